"""A log without somebody: the same events at the same times, with a pseudonym in their place. Pure.

What they wrote is gone; that they wrote, and what they decided, stays: an approval is still an
approval, by "erased person #…", with the digest of what was approved. What others wrote, models and
tools too, is left alone, also where it speaks of them: see `mentions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec.structs import replace

from agent_core.json_values import Json
from agent_core.thread import events as ev
from agent_core.thread.questions import Escalation, Kind, Question, QuestionId
from gateway.retention.persona import GONE, Persona


@dataclass(frozen=True, slots=True)
class _Page:
    """What it takes to rewrite an event: who is to go, and what was asked."""

    them: Persona
    kinds: dict[QuestionId, Kind]


def rewritten(log: Sequence[ev.Event], them: Persona) -> list[ev.Event]:
    """Give the same log without them; an event that has nothing of theirs is the very same."""
    asked = (event.question for event in log if isinstance(event, ev.QuestionAsked))
    page = _Page(them.within(rooms_of(log, them)), {one.id: one.kind for one in asked})
    return [_without(page, event) for event in log]


def rooms_of(log: Sequence[ev.Event], them: Persona) -> list[str]:
    """Give the direct messages that a conversation of theirs was in: nobody else was there."""
    rooms = []
    for event in log:
        match event:
            case ev.ThreadLaunched(requester=who, person=person, origin=place):
                is_theirs = them.is_them(who) or them.is_them(person)
            case ev.ThreadMoved(by=who, to=place):
                is_theirs = them.is_them(who)
            case _:
                continue
        if is_theirs and _is_direct(place):
            rooms.append(place)
    return rooms


def also_known(log: Sequence[ev.Event], them: Persona) -> set[str]:
    """Give further accounts of theirs that a log knows them by, such as one that Slack vouched for.

    Only accounts of people: a key of the API may serve several.
    """
    found = set()
    for event in log:
        match event:
            case (
                ev.ThreadLaunched(requester=who, person=person)
                | ev.QuestionAnswered(by=who, person=person)
                | ev.VoteCast(by=who, person=person)
            ) if them.is_them(person) and who.startswith(_ACCOUNTS):
                found.add(who)
    return found


def said_by(log: Sequence[ev.Event], them: Persona) -> list[str]:
    """Give the texts that they wrote, as they are in the log."""
    texts: list[Json] = []
    for event in log:
        match event:
            case ev.MessageReceived(sender=who) if them.is_them(who):
                texts += [event.text, *(one.text for one in event.attachments)]
            case (
                ev.QuestionAnswered(by=who, person=person) | ev.VoteCast(by=who, person=person)
            ) if them.is_them(who) or them.is_them(person):
                texts += [event.comment, event.value]
            case ev.ThreadResumed(by=who, instruction=text) if them.is_them(who):
                texts.append(text)
            case (
                ev.ApprovalTakenBack(by=who, reason=text)
                | ev.QuestionWithdrawn(by=who, reason=text)
                | ev.ThreadPaused(by=who, reason=text)
                | ev.ThreadCancelled(by=who, reason=text)
            ) if them.is_them(who):
                texts.append(text)
    return [one for one in _strings(texts) if one not in ("", GONE)]


def _strings(value: Json) -> Iterator[str]:
    """Give the texts of a form, too, however deep they lie."""
    match value:
        case str():
            yield value
        case dict():
            yield from _strings(list(value.values()))
        case list():
            for one in value:
                yield from _strings(one)


def _is_direct(place: str) -> bool:
    parts = place.split(":")
    return parts[0] == "slack" and parts[2:3] != [] and parts[2].startswith("D")


def _without(page: _Page, event: ev.Event) -> ev.Event:
    rewrite = _BY_TYPE.get(type(event))
    new: ev.Event = event if rewrite is None else rewrite(page, event)
    return event if new == event else new


def _launched(page: _Page, event: ev.ThreadLaunched) -> ev.Event:
    them = page.them
    return replace(
        event,
        requester=them.named(event.requester),
        person=them.named(event.person),
        audience=_each(them.put, event.audience),
        origin=them.placed(event.origin),
        watchers=_each(them.placed, event.watchers),
        metadata=exchanged(event.metadata, them),
    )


def _received(page: _Page, event: ev.MessageReceived) -> ev.Event:
    them = page.them
    event = replace(event, others=_each(them.put, event.others))
    if not them.is_them(event.sender):
        return event
    files = tuple(
        replace(file, name=GONE, text=_gone(file.text), note=_gone(file.note))
        for file in event.attachments
    )
    return replace(event, sender=them.name, text=GONE, attachments=files)


def _asked(page: _Page, event: ev.QuestionAsked) -> ev.Event:
    question, put = event.question, page.them.put
    chain = tuple(
        replace(step, to=_each(put, step.to)) if isinstance(step, Escalation) else put(step)
        for step in question.waiting.escalate_to
    )
    new: Question = replace(
        question,
        to=_each(put, question.to),
        waiting=_same(question.waiting, replace(question.waiting, escalate_to=chain)),
    )
    return replace(event, question=new)


def _decided(page: _Page, event: ev.QuestionAnswered | ev.VoteCast) -> ev.Event:
    them = page.them
    if not (them.is_them(event.by) or them.is_them(event.person)):
        return event
    return replace(
        event,
        by=them.named(event.by),
        person=them.named(event.person),
        comment=_gone(event.comment),
        how=event.how.partition(" ")[0],  # `dmarc example.com` and `api key NAME` name them
        value=_said(page.kinds.get(event.question, "text"), event.value),
    )


def _said(kind: Kind, value: Json) -> Json:
    """Take the words out of an answer; a decision is no text, and stays."""
    match kind:
        case "choice" | "approval":
            return value
        case "text" | "form" | "event":
            return _blank(value)


def _blank(value: Json) -> Json:
    """Keep the shape of what they filled in, and yes and no."""
    match value:
        case dict():
            return {name: _blank(one) for name, one in value.items()}
        case list():
            return [_blank(one) for one in value]
        case bool():
            return value
        case str():
            return GONE
        case _:
            return None


def _done(page: _Page, event: Any) -> ev.Event:  # noqa: ANN401 (any event with `by` and words)
    """Take away who did it, and what they said of it."""
    if not page.them.is_them(event.by):
        return event  # type: ignore[no-any-return]  # as it came
    words = {name: _gone(getattr(event, name)) for name in _WORDS if hasattr(event, name)}
    return replace(event, by=page.them.name, **words)  # type: ignore[no-any-return]  # an event


def _escalated(page: _Page, event: ev.QuestionEscalated) -> ev.Event:
    return replace(event, to=_each(page.them.put, event.to))


def _moved(page: _Page, event: ev.ThreadMoved) -> ev.Event:
    return replace(event, to=page.them.placed(event.to), by=page.them.named(event.by))


def _refused(page: _Page, event: ev.AnswerRefused) -> ev.Event:
    """Keep why, which are our own words, also where they name who was first."""
    them = page.them
    return replace(event, by=them.named(event.by), reason=them.scrubbed(event.reason))


_ACCOUNTS = ("slack:", "email:")
_WORDS = ("reason", "instruction")
_Rewrite: TypeAlias = Callable[[_Page, Any], ev.Event]
_BY_TYPE: dict[type, _Rewrite] = {
    ev.ThreadLaunched: _launched,
    ev.MessageReceived: _received,
    ev.QuestionAsked: _asked,
    ev.QuestionAnswered: _decided,
    ev.VoteCast: _decided,
    ev.ApprovalTakenBack: _done,
    ev.QuestionEscalated: _escalated,
    ev.QuestionWithdrawn: _done,
    ev.AnswerRefused: _refused,
    ev.ThreadPaused: _done,
    ev.ThreadResumed: _done,
    ev.ThreadMoved: _moved,
    ev.ThreadCancelled: _done,
    ev.PersonErased: _done,
}
"""Who is named where; models and tools name nobody but in their own words."""


def exchanged(value: Any, them: Persona) -> Any:  # noqa: ANN401 (any JSON)
    """Put the pseudonym wherever a string is one of their names or addresses, and nothing else."""
    match value:
        case str():
            return them.put(value)
        case dict():
            return {them.put(name): exchanged(one, them) for name, one in value.items()}
        case list():
            return [exchanged(one, them) for one in value]
        case _:
            return value


def _each(put: Callable[[str], str], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(put(one) for one in names)


def _gone(text: str) -> str:
    return GONE if text else ""


def _same(old: Any, new: Any) -> Any:  # noqa: ANN401 (the same class as before)
    """Keep the one instance that is left out when it is written."""
    return old if old == new else new
