"""Routing: who hears of an event, and where. Pure.

What the conversation's own place hears, its watchers hear too. A question also goes to those who
are asked and can't see that place, each by the way that they prefer, and in their hours unless it
is urgent. Nothing here sends: the addresses become deliveries in the same commit as the event.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from agent_core.thread.events import (
    ApprovalTakenBack,
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    QuestionAsked,
    QuestionEscalated,
    QuestionExpired,
    QuestionReminded,
    QuestionWithdrawn,
    ThreadCancelled,
    ThreadFailed,
    ThreadFinished,
    ThreadMoved,
    VoteCast,
)
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from gateway.people.directory import Directory, Reach
from gateway.people.moving import way_to
from gateway.people.places import MACHINES, is_channel, is_within, shows

_EVENT = "event"
_QUIET = "webhook"
"""Threads from there have nobody who looks: `web` is read by those who launched them."""
_LAUNCHED = "web"
_LATELY_MS = 15 * 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """Something that people hear of a question."""

    question: Question
    asked: Sequence[str]
    now: Millis
    waits: bool = True
    """It can wait until somebody's hours begin; how it ended never does."""
    asked_at: Millis | None = None
    """Of a reminder: since when they have known, or could have."""


class Routing:
    """Knows the people, and the channels that are on."""

    def __init__(self, people: Directory | None = None, channels: Container[str] = ()) -> None:
        """Without people and channels, only the place of a conversation and its watchers hear."""
        self.people = people or Directory()
        self._channels = channels

    def way_to(self, requester: str, channel: str, vouched: str = "") -> str:
        """Give where somebody's conversation goes on by another channel; raises Refused."""
        return way_to(self.people, self._channels, requester, channel, vouched)

    def hearers(self, event: Event, after: ThreadState, now: Millis) -> dict[str, Millis]:
        """Give where an event is told that people hear of, and when; the origin first."""
        if isinstance(event, ThreadMoved):
            return {after.origin: now}
        found = {address: now for address in (after.origin, *after.watchers) if address}
        for address, due_at in self._others(event, after, now):
            found.setdefault(address, due_at)
        return found

    def doubtful(self, event: Event, after: ThreadState) -> list[str]:
        """Give those asked who may not be in the channel where it is asked: only Slack can tell.

        Whoever has had a part in the conversation is there.
        """
        if not is_channel(after.origin):
            return []
        asked = _newly_asked(event, after)
        if isinstance(event, QuestionReminded) and event.question in after.questions:
            asked = audience(after, after.questions[event.question])
        there = {one.casefold() for one in after.participants}
        own = ":".join(after.origin.split(":")[:2])
        ways = [
            way
            for reach in self._reaches(asked)
            if there.isdisjoint(reach.identities)
            for way in reach.ways
            if way.startswith(f"{own}:") and not is_within(way, after.origin)
        ]
        return list(dict.fromkeys(ways))

    def lookouts(self, event: Event, after: ThreadState) -> list[str]:
        """Give the operators' addresses where a question has no way to any of those asked."""
        asked = _newly_asked(event, after)
        if not asked or any(self._hears(reach, after) for reach in self._reaches(asked)):
            return []
        ways = (self._chosen(replace(one, at_once=False)) for one in self.people.operators())
        return list(dict.fromkeys(chain.from_iterable(ways)))

    def _hears(self, reach: Reach, after: ThreadState) -> bool:
        """Tell whether somebody can know of a question; who launched it by a program, there."""
        is_program = bool(after.watchers) or after.origin.startswith(f"{_LAUNCHED}:")
        if is_program and after.requester.casefold() in reach.identities:
            return True
        if shows(after.origin, reach.identities, requester=self._identities(after)):
            return True
        return any(self._chosen(reach))

    def _reaches(self, asked: Sequence[str]) -> list[Reach]:
        return [*chain.from_iterable(map(self.people.reaches, asked))]

    def _others(
        self, event: Event, after: ThreadState, now: Millis
    ) -> Iterable[tuple[str, Millis]]:
        match event:
            case QuestionAsked(question=one):
                call = _Call(question=one, asked=_asked_first(after, one), now=now)
            case QuestionEscalated(question=key, to=to) if key in after.questions:
                call = _Call(question=after.questions[key].question, asked=to, now=now)
            case QuestionReminded(question=key) if key in after.questions:
                return self._reminded(after.questions[key], after, now)
            case (
                QuestionAnswered(question=key)
                | QuestionExpired(question=key)
                | QuestionWithdrawn(question=key)
                | VoteCast(question=key)
                | ApprovalTakenBack(question=key)
            ) if key in after.questions:
                call = replace(_to_all(after, key, now), waits=False)
            case ThreadFinished() | ThreadFailed() | ThreadCancelled():
                return [(address, now) for address in self._requester(after)]
            case _:
                return []
        return self._called(call, after)

    def _reminded(
        self, current: QuestionState, after: ThreadState, now: Millis
    ) -> Iterable[tuple[str, Millis]]:
        """Remind all; those of the last stage could know of it only since it went on to them."""
        last = current.question.waiting.chain()[: current.escalations][-1:]
        new = last[0].to if last else ()
        before = tuple(one for one in audience(after, current) if one not in new)
        for asked, since in ((before, current.asked_at), (new, current.timer_from)):
            call = _Call(question=current.question, asked=asked, now=now, asked_at=since)
            yield from self._called(call, after)

    def _called(self, call: _Call, after: ThreadState) -> Iterable[tuple[str, Millis]]:
        """Give where those are asked who can't see the conversation; a machine, where it waits."""
        question, origin = call.question, after.origin
        if question.kind == _EVENT:
            awaited = f"{_EVENT}:{question.awaited}"
            return [(awaited, call.now)] if _EVENT in self._channels else []
        if call.asked == (after.requester,) and _is_of(origin, after.requester):
            return []
        requester = self._identities(after)
        reaches = chain.from_iterable(self.people.reaches(one) for one in call.asked)
        unseeing = [
            one for one in reaches if not shows(origin, one.identities, requester=requester)
        ]
        due = [(one, _due_at(one, call, after)) for one in unseeing]
        return [
            (address, moment)
            for one, moment in due
            if moment is not None
            for address in self._chosen(one)
        ]

    def _chosen(self, reach: Reach) -> Iterable[str]:
        """Give the first of somebody's ways, or all of them if they are asked so."""
        usable = [way for way in reach.ways if _is_usable(way, self._channels)]
        return usable if reach.at_once else usable[:1]

    def _identities(self, after: ThreadState) -> frozenset[str]:
        return frozenset(
            chain.from_iterable(one.identities for one in self.people.reaches(after.requester))
        )

    def _requester(self, after: ThreadState) -> dict[str, None]:
        """Bring the end to who wanted it, if they are somebody we know and nobody looks there."""
        if not after.origin.startswith(f"{_QUIET}:"):
            return {}
        known = [one for one in self.people.reaches(after.requester) if one.is_known]
        return dict.fromkeys(chain.from_iterable(self._chosen(one) for one in known))


ORIGIN_ONLY = Routing()
"""Without a directory: the place of the conversation, and its watchers."""


def audience(state: ThreadState, current: QuestionState) -> tuple[str, ...]:
    """Give who may answer: those named, else the thread's own; and whom it went on to."""
    return (*_asked_first(state, current.question), *current.escalated_to)


def _asked_first(state: ThreadState, question: Question) -> tuple[str, ...]:
    own = state.audience or ((state.requester,) if state.requester else ())
    return question.to or own


def _newly_asked(event: Event, after: ThreadState) -> Sequence[str]:
    """Give those of whom an event asks something for the first time; a machine waits by itself."""
    match event:
        case QuestionAsked(question=one) if one.kind != _EVENT:
            return _asked_first(after, one)
        case QuestionEscalated(to=to):
            return to
        case _:
            return ()


def _to_all(state: ThreadState, key: QuestionId, now: Millis) -> _Call:
    current = state.questions[key]
    return _Call(question=current.question, asked=audience(state, current), now=now)


def _due_at(reach: Reach, call: _Call, after: ThreadState) -> Millis | None:
    """Tell when somebody may be written to; None for a reminder of what they don't know yet."""
    hours, now = reach.hours, call.now
    if hours is None or not call.waits or call.question.urgency == "high":
        return now
    if call.asked_at is not None and hours.begin(call.asked_at) > now:
        return None
    begin = hours.begin(now)
    return now if begin == now or _wrote_lately(reach, after, now) else begin


def _wrote_lately(reach: Reach, after: ThreadState, now: Millis) -> bool:
    """Tell whether somebody is plainly there: who writes at night may be answered at night."""
    for _, entry in reversed(after.entries):
        if entry.at < now - _LATELY_MS:
            return False
        if isinstance(entry, MessageReceived) and entry.sender.casefold() in reach.identities:
            return True
    return False


def _is_of(origin: str, requester: str) -> bool:
    """Tell without looking anybody up that who is asked is where they began."""
    channel = origin.partition(":")[0]
    return channel not in MACHINES and requester.startswith(f"{channel}:")


def _is_usable(address: str, channels: Container[str]) -> bool:
    channel, found, _ = address.partition(":")
    return bool(found) and channel not in MACHINES and channel in channels
