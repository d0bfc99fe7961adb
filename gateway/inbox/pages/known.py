"""What a page knows beside a piece of a log: names, tools of calls, questions, messages. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from agent_core.thread import events as ev
from agent_core.thread.events import Event
from agent_core.thread.questions import CallKey, Question, QuestionId
from gateway.inbox.pages.texts import one_line

_TOLD: Final = frozenset({"question.asked", "question.escalated", "question.reminded"})
_OWN: Final = "web:"
"""Begins the address of a thread of the API's: nobody is told anything there."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What is known of one message to somebody."""

    event: int
    kind: str
    address: str
    status: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What entries refer to: names of people, tools of calls, questions, messages by event."""

    agent: str = ""
    name: Callable[[str], str] = str
    tools: Mapping[CallKey, str] = field(default_factory=dict)
    questions: Mapping[QuestionId, Question] = field(default_factory=dict)
    deliveries: Mapping[int, Sequence[Delivered]] = field(default_factory=dict)

    def person(self, identity: str) -> str:
        """Name somebody."""
        return one_line(self.name(identity), 80) if identity else "somebody"

    def tool(self, call: CallKey) -> str:
        """Name the tool of a call."""
        return one_line(self.tools.get(call, f"call {call}"), 80)

    def people(self, identities: Iterable[str]) -> str:
        """Name several."""
        return ", ".join(map(self.person, identities)) or "nobody"


def chosen_tools(events: Sequence[Event], first: int) -> dict[CallKey, str]:
    """Name the tools of the calls that the model chose in a piece of a log."""
    return {
        CallKey(f"{seq}.{index}"): call.tool
        for seq, event in enumerate(events, start=first)
        if isinstance(event, ev.ModelReplied)
        for index, call in enumerate(event.calls)
    }


def asked_questions(events: Sequence[Event]) -> dict[QuestionId, Question]:
    """Give the questions of a piece of a log."""
    return {one.question.id: one.question for one in events if isinstance(one, ev.QuestionAsked)}


def missing_replies(events: Sequence[Event], first: int) -> list[int]:
    """Number the replies before this piece whose calls it refers to."""
    keys = (getattr(event, "call", "") for event in events)
    seqs = {int(key.partition(".")[0]) for key in keys if key}
    return sorted(seq for seq in seqs if seq < first)


def by_event(deliveries: Iterable[Delivered]) -> dict[int, list[Delivered]]:
    """Sort messages by the event that they tell of."""
    found: defaultdict[int, list[Delivered]] = defaultdict(list)
    for one in deliveries:
        if one.kind in _TOLD and not one.address.startswith(_OWN):
            found[one.event].append(one)
    return dict(found)
