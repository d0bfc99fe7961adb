"""Parties: who has a part in a thread, so that people find theirs among all others. Pure.

Whoever began it, writes in it, or is asked in it. Kept as they are written, in lower case: who a
role or an address stands for, the directory says when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_core.thread.events import (
    Event,
    MessageReceived,
    QuestionAsked,
    QuestionEscalated,
    ThreadLaunched,
)
from agent_core.thread.state import ThreadState
from gateway.people.directory import Directory
from gateway.people.places import MACHINES
from gateway.people.routing import audience

_JOINING = (ThreadLaunched, MessageReceived, QuestionAsked, QuestionEscalated)


def parties(events: Sequence[Event], after: ThreadState, people: Directory) -> tuple[str, ...]:
    """Give who has a part by these events, the last of `after`."""
    joining = [event for event in events if isinstance(event, _JOINING)]
    if not joining:
        return ()
    named = dict.fromkeys(one for event in joining for one in _named(event, after))
    return tuple(dict.fromkeys(_key(one) for one in named if _is_person(one, after, people)))


def asked(audience: Sequence[str]) -> tuple[str, ...]:
    """Give whom a question asks, as its index has it."""
    return tuple(dict.fromkeys(_key(one) for one in audience if "\n" not in one))


def _named(event: Event, after: ThreadState) -> Iterable[str]:
    match event:
        case ThreadLaunched():
            return (event.requester, event.person)
        case MessageReceived():
            return (event.sender, *event.others)
        case QuestionAsked(question=question) if question.id in after.questions:
            return audience(after, after.questions[question.id])
        case QuestionEscalated(to=to):
            return to
        case _:
            return ()


def _is_person(name: str, after: ThreadState, people: Directory) -> bool:
    """Leave out programs: nobody signs in as one, and each would cost a row.

    A name without an address is a key's, where it began the thread and the operator has told us
    of nobody who is called so.
    """
    channel, is_address, _ = name.partition(":")
    if is_address:
        return channel not in MACHINES
    return bool(name) and (name != after.requester or people.knows(name))


def _key(name: str) -> str:
    return name.strip().casefold()
