"""What an auditor reads of a log: one entry for each event and each delivery. Pure.

Who, how and by which way; of contents only fingerprints. Events are read as plain JSON, by the
names of their fields: so those of newer code show what they can, and a damaged one shows as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

from agent_core.json_values import Json, JsonObject
from agent_core.thread.digest import approval_digest
from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.seals import Seal, has_erasures, links_of

_read = msgspec.json.Decoder(dict[str, Json]).decode
_WHO = ("by", "sender", "requester", "to")
_NOTE = ("reason", "error", "limit")
_UNREADABLE: JsonObject = {"type": "unreadable"}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the audit; what does not apply is empty."""

    at: str
    thread: str
    seq: int
    what: str
    """An event's type (`QuestionAnswered`), or what was said to people (`question.asked`)."""
    who: str = ""
    person: str = ""
    """The name that the house has for them, where it knows them."""
    how: str = ""
    """How they were known to be who they are."""
    way: str = ""
    """The address by which people were reached, or the thread came."""
    question: str = ""
    tool: str = ""
    digest: str = ""
    """What exactly was to be approved, was approved, or ran: the tool with its arguments."""
    outcome: str = ""
    record: str
    """SHA-256 of the row as it is stored."""
    was: str = ""
    """If words were erased from it: its `record` before, hashed once more with the key."""


@dataclass
class _Story:
    """What an entry needs to know of those before it."""

    thread: str
    was: dict[tuple[int, str], str]
    at: str = ""
    calls: dict[str, JsonObject] = field(default_factory=dict)
    questions: dict[str, JsonObject] = field(default_factory=dict)


def entries(log: SealedLog, seal: Seal | None = None) -> Iterator[Entry]:
    """Give the entries of a thread, in the order of writing; `was` only to who has the key."""
    story = _Story(log.thread, {} if seal is None else erased_records(seal, log))
    rest = list(reversed(log.deliveries))
    for event in log.events:
        yield _of_event(story, event)
        while rest and rest[-1].seq <= event.seq:
            yield _of_delivery(story, rest.pop())
    yield from (_of_delivery(story, row) for row in reversed(rest))


def erased_records(seal: Seal, log: SealedLog) -> dict[tuple[int, str], str]:
    """Tell what an export from before knows the rows by whose words were erased."""
    if not has_erasures(log):
        return {}
    links = (link.erased for link in links_of(seal, log))
    return {(row.seq, row.delivery): row.record for row in links if row is not None}


def keyed(seal: Seal, record: str) -> str:
    """Hash a fingerprint once more, so that nobody without the key can guess what it is of."""
    return seal(f"record\0{record}".encode()).hex()


def iso(moment: Millis) -> str:
    """Write a moment."""
    return as_datetime(moment).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fingerprint(parts: Iterable[bytes]) -> str:
    """Give the SHA-256 of what stands in a row."""
    return sha256(b"\0".join(parts)).hexdigest()


def _of_event(story: _Story, event: KeptEvent) -> Entry:
    body = _parsed(event.body)
    story.at = _time(body.get("at"))
    _remember(story, event.seq, body)
    question = _question(story, body)
    call = story.calls.get(str(body.get("call") or question.get("call")), {})
    return Entry(
        at=story.at,
        thread=story.thread,
        seq=event.seq,
        what=str(body.get("type", "")),
        who=_names(next((body[name] for name in _WHO if body.get(name)), question.get("to"))),
        person=str(body.get("person") or body.get("name") or ""),
        how=str(body.get("how", "")),
        way=str(body.get("origin", "")),
        question=str(question.get("id", "")),
        tool=str(call.get("tool") or question.get("tool") or ""),
        digest=_digest(body, question, call),
        outcome=_outcome(body),
        record=record_of(event),
        was=story.was.get((event.seq, ""), ""),
    )


def _of_delivery(story: _Story, row: KeptDelivery) -> Entry:
    kind = _parsed(row.body).get("kind", "")
    return Entry(
        at=story.at,
        thread=story.thread,
        seq=row.seq,
        what=str(kind),
        way=row.address,
        question=row.question or "",
        outcome=row.status,
        record=record_of(row),
        was=story.was.get((row.seq, row.id), ""),
    )


def record_of(row: KeptEvent | KeptDelivery) -> str:
    """Give the fingerprint of a row."""
    if isinstance(row, KeptEvent):
        return fingerprint([row.body])
    names = (row.id, row.address, row.question or "")
    return fingerprint([*(name.encode() for name in names), row.body])


def _parsed(body: bytes) -> JsonObject:
    try:
        return _read(body)
    except msgspec.MsgspecError:
        return _UNREADABLE


def _time(at: Json) -> str:
    return iso(Millis(at)) if isinstance(at, int) else ""


def _remember(story: _Story, seq: int, body: JsonObject) -> None:
    """Keep what later events name: the calls that a model chose, the questions, the edits."""
    for index, call in enumerate(_listed(body.get("calls"))):
        story.calls[f"{seq}.{index}"] = dict(call)
    asked = body.get("question")
    if isinstance(asked, dict):
        story.questions[str(asked.get("id"))] = asked
    question, value = _question(story, body), body.get("value")
    call = story.calls.get(str(question.get("call")), {})
    if body.get("type") == "QuestionAnswered" and isinstance(value, dict) and "arguments" in value:
        call["arguments"] = value["arguments"]
    if body.get("type") == "ApprovalTakenBack":  # with it, what was edited
        call["arguments"] = question.get("arguments")


def _question(story: _Story, body: JsonObject) -> JsonObject:
    """Give the question that an event is about."""
    named = body.get("question")
    if isinstance(named, dict):
        return named
    return {} if named is None else story.questions.get(str(named), {"id": named})


def _digest(body: JsonObject, question: JsonObject, call: JsonObject) -> str:
    """Say what it is about: as the log has it, or of the call as it runs, worked out anew."""
    if body.get("type") != "ToolStarted":
        asks = question if isinstance(body.get("question"), dict) else {}
        return str(body.get("digest") or asks.get("digest") or "")
    arguments = call.get("arguments")
    known = arguments if isinstance(arguments, dict) else {}
    return approval_digest(str(call.get("tool")), str(call.get("signature", "")), known)


def _outcome(body: JsonObject) -> str:
    """Say in a word or two how it ended, where it says so at all."""
    value = body.get("value")
    if isinstance(value, dict) and "approved" in value:
        if value["approved"] is not True:
            return "denied"
        return "approved with edits" if "arguments" in value else "approved"
    return str(next((body[name] for name in _NOTE if body.get(name)), ""))


def _names(value: Json) -> str:
    """Write one name, or several."""
    return ", ".join(str(one) for one in value) if isinstance(value, list) else str(value or "")


def _listed(value: Json) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
