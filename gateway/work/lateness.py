"""Lateness: an answer after the moment when its question expires, before a timer has fired. Pure.

Timers are fired by workers, a moment later or, after an outage, much later. For who answers, the
moment counts that they were told: the question expires by the answer that came too late.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.errors import AlreadySettled
from agent_core.thread.events import Millis
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from agent_core.thread.timers import TimerEvent, expire, expires_at
from agent_core.thread.times import spoken


def overdue(state: ThreadState, key: QuestionId, now: Millis) -> Sequence[TimerEvent]:
    """Give what ends a question whose time is up; nothing where others have their turn instead."""
    if key not in state.open_questions:
        return ()
    current = state.questions[key]
    moment, waiting = expires_at(current), current.question.waiting
    if moment is None or moment > now:
        return ()
    goes_on = waiting.on_expiry == "escalate" and waiting.chain()[current.escalations :]
    return () if goes_on else expire(state, key, now)


def refuse_late(state: ThreadState, key: QuestionId, now: Millis) -> None:
    """Refuse an answer to a question whose time is up."""
    if overdue(state, key, now):
        raise AlreadySettled(f"question {key} {expired_words(state, key)}")


def expired_words(state: ThreadState, key: QuestionId) -> str:
    """Say when its time was up: `expired at 2026-11-16 09:30 UTC`."""
    current = state.questions[key]
    return f"expired at {spoken(expires_at(current) or current.asked_at)}"
