"""A piece of a thread's log, told: reads what the entries refer to, and nothing else.

A page and the live stream tell by the same function: what comes live is what a reload shows.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.thread import events as ev
from agent_core.thread.events import Event, ThreadId
from agent_core.thread.questions import CallKey, Question, QuestionId
from gateway.inbox.house import House
from gateway.inbox.pages.entries import Entry
from gateway.inbox.pages.known import (
    Delivered,
    Known,
    asked_questions,
    by_event,
    chosen_tools,
    missing_replies,
)
from gateway.inbox.pages.timeline import timeline
from gateway.outbox.delivery_ids import told_of

_MOST_REPLIES = 50
"""So many earlier replies are looked up for the names of their tools; more are told by number."""
_MOST_QUESTIONS = 50
_WITH_COPIES = (ev.QuestionAsked, ev.QuestionEscalated, ev.QuestionReminded)


async def tell(
    house: House, thread: ThreadId, agent: str, events: Sequence[Event], first: int
) -> list[Entry]:
    """Tell a piece of a log whose first event has that number."""
    known = Known(
        agent=agent,
        name=house.people.name,
        tools=await _tools(house, thread, events, first),
        questions=await _questions(house, events),
        deliveries=await _deliveries(house, thread, events),
    )
    return timeline(events, first, known)


async def _tools(
    house: House, thread: ThreadId, events: Sequence[Event], first: int
) -> dict[CallKey, str]:
    tools = chosen_tools(events, first)
    for seq in missing_replies(events, first)[-_MOST_REPLIES:]:
        tools |= chosen_tools(await house.store.events(thread, after=seq - 1, limit=1), seq)
    return tools


async def _questions(house: House, events: Sequence[Event]) -> dict[QuestionId, Question]:
    """Give the questions that are decided here, also those that were asked before."""
    asked = asked_questions(events)
    decided = (one.question for one in events if isinstance(one, ev.QuestionAnswered | ev.VoteCast))
    for key in [one for one in dict.fromkeys(decided) if one not in asked][:_MOST_QUESTIONS]:
        row = await house.store.question(key)
        if row is not None:
            body = row.body
            asked[key] = Question(id=key, kind=body["kind"], prompt="", arguments=body["arguments"])
    return asked


async def _deliveries(
    house: House, thread: ThreadId, events: Sequence[Event]
) -> dict[int, list[Delivered]]:
    if not any(isinstance(one, _WITH_COPIES) for one in events):
        return {}
    rows = await house.store.deliveries(thread)
    return by_event(
        Delivered(told_of(row.id), row.body["kind"], row.address, row.status, row.error)
        for row in rows
    )
