"""Durable timers of questions: when the next one is due, and what then happened. Pure.

A timer is never armed anywhere; it follows from the log. So it can't be lost, and it fires
once, because firing is an event that changes what is due next.
"""

from __future__ import annotations

from typing import TypeAlias

from agent_core.thread.events import (
    Millis,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState

TimerEvent: TypeAlias = QuestionEscalated | QuestionExpired | QuestionReminded | QuestionWithdrawn


def next_due(state: ThreadState) -> Millis | None:
    """Tell when a timer of an open question is next due."""
    if not state.open_questions:
        return None
    moments = [moment for one in state.waiting_questions() for moment in _moments(one)]
    return min(moments, default=None)


def due(state: ThreadState, now: Millis) -> list[TimerEvent]:
    """Give what the timers that are due by now have to say, question by question."""
    events: list[TimerEvent] = []
    ended: set[QuestionId] = set()
    for current in state.waiting_questions():
        if current.question.id not in ended:
            news = _due_for(state, current, now)
            ended.update(one.question for one in news)
            events.extend(news)
    return events


def expire(state: ThreadState, key: QuestionId, now: Millis) -> list[TimerEvent]:
    """End a question unanswered, along with the others that the same tool had asked."""
    return [
        QuestionExpired(at=now, question=key),
        *(
            QuestionWithdrawn(at=now, question=one, reason="another question of it expired")
            for one in siblings(state, key)
        ),
    ]


def siblings(state: ThreadState, key: QuestionId) -> list[QuestionId]:
    """Find the other open questions that the same call stands still for."""
    asked = state.questions[key].question
    if asked.call is None or not asked.wait:
        return []
    others = (one.question for one in state.waiting_questions())
    return [one.id for one in others if one.call == asked.call and one.wait and one.id != key]


def expires_at(current: QuestionState) -> Millis | None:
    """Tell when a question stops waiting, unless it waits for ever."""
    waiting = current.question.waiting
    if waiting.expires_after is None or waiting.on_expiry == "wait":
        return None
    return Millis(current.timer_from + _patience(current) * 1000)


def _patience(current: QuestionState) -> int:
    """Tell how many seconds those have who were asked last."""
    waiting = current.question.waiting
    step = current.escalations - 1
    chain = waiting.chain()
    last = chain[step].after if 0 <= step < len(chain) else None
    return last or waiting.expires_after or 0


def _remind_at(current: QuestionState) -> Millis | None:
    waiting = current.question.waiting
    after, most = waiting.remind_after, waiting.remind_times
    if after is None or (most is not None and current.reminders >= most):
        return None
    grown = after * waiting.remind_growth**current.reminders
    # From the last reminder, not by count: after a month's outage people get one, not sixty.
    return Millis(current.nudged_at + grown * 1000)


def _moments(current: QuestionState) -> list[Millis]:
    moments = (expires_at(current), _remind_at(current))
    return [moment for moment in moments if moment is not None]


def _due_for(state: ThreadState, current: QuestionState, now: Millis) -> list[TimerEvent]:
    key = current.question.id
    expiry = expires_at(current)
    if expiry is not None and expiry <= now:
        chain = current.question.waiting.chain()[current.escalations :]
        if current.question.waiting.on_expiry == "escalate" and chain:
            return [QuestionEscalated(at=now, question=key, to=chain[0].to)]
        return expire(state, key, now)
    reminder = _remind_at(current)
    if reminder is not None and reminder <= now:
        return [QuestionReminded(at=now, question=key)]
    return []
