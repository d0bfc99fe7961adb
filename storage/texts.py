"""How values are written as text, the same in every store, and what no store takes.

A value is written before any store sees it. So what can't be stored is refused everywhere, with
its place, and nothing passes in memory that a database would refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from agent_core.json_values import Json, JsonObject, plain, plain_object, storable
from agent_core.thread.events import Event, Millis
from agent_core.thread.questions import QuestionId
from storage.errors import Unreadable
from storage.values import Commit, DeliveryId, QuestionStatus

_encode = msgspec.json.Encoder().encode
_read_events = msgspec.json.Decoder(list[Event]).decode
_read_object = msgspec.json.Decoder(dict[str, Json]).decode


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A row of the questions index, with its body as text."""

    id: QuestionId
    status: QuestionStatus
    asked_at: Millis
    expires_at: Millis | None
    body: str


@dataclass(frozen=True, slots=True)
class WrittenDelivery:
    """A row of the outbox, with its body as text."""

    id: DeliveryId
    address: str
    body: str
    due_at: Millis
    question: QuestionId | None


@dataclass(frozen=True, slots=True)
class Written:
    """The parts of a commit that are kept as text."""

    events: list[str]
    summary: str | None
    questions: list[WrittenQuestion]
    deliveries: list[WrittenDelivery]


def written(commit: Commit) -> Written:
    """Write what a commit holds, or raise NotJson with the place of what can't be stored."""
    for path, text in _words(commit):
        check_text(text, path)
    return Written(
        [event_text(event) for event in commit.events],
        None if commit.summary is None else object_text(commit.summary, "summary"),
        [
            WrittenQuestion(
                row.id, row.status, row.asked_at, row.expires_at, object_text(row.body, "question")
            )
            for row in commit.questions
        ],
        [
            WrittenDelivery(
                row.id, row.address, object_text(row.body, "delivery"), row.due_at, row.question
            )
            for row in commit.deliveries
        ],
    )


def _words(commit: Commit) -> Iterator[tuple[str, str]]:
    yield "thread", commit.thread
    if commit.create is not None:
        yield "agent", commit.create.agent
        yield "origin", commit.create.origin
        yield "requester", commit.create.requester
        yield "thread_key", commit.create.thread_key
    if commit.inbox is not None:
        yield "inbox.source", commit.inbox.source
        yield "inbox.key", commit.inbox.key
        yield "inbox.digest", commit.inbox.digest
    for question in commit.questions:
        if question.thread != commit.thread:
            raise ValueError(f"question {question.id} is of another thread than the commit")
        yield "question.id", question.id
    for delivery in commit.deliveries:
        yield "delivery.id", delivery.id
        yield "delivery.address", delivery.address
        yield "delivery.question", delivery.question or ""


def check_text(text: str, path: str) -> None:
    """Raise NotJson if a database would refuse this text; `path` names it."""
    if not is_storable(text):
        plain(text, path)  # raises, and says what is wrong


def is_storable(text: str) -> bool:
    """Tell whether every database takes this text; one that none takes can't be found either."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def scrubbed(text: str) -> str:
    """Make text storable: for the words of somebody's error, which must not cause another."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def event_text(event: Event) -> str:
    """Write an event."""
    return storable(event, type(event).__name__).decode()


def read_events(texts: str, whose: str) -> list[Event]:
    """Read events that stand side by side, separated by commas; `whose` is for the error."""
    try:
        return _read_events(f"[{texts}]")
    except msgspec.MsgspecError as exc:
        raise Unreadable(
            f"the log of thread {whose} is damaged or was written by newer code: {exc}"
        ) from exc


def object_text(value: JsonObject, path: str) -> str:
    """Write a JSON object; `path` names it in the error."""
    try:
        text = _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        text = _encode(plain_object(value, path))  # a str of some other class, or else it raises
    if b"\\u0000" in text:
        plain_object(value, path)  # raises, and says where
    return text.decode()


def read_object(text: str) -> JsonObject:
    """Read a JSON object."""
    try:
        return _read_object(text)
    except msgspec.MsgspecError as exc:
        raise Unreadable(f"a row is damaged or was written by newer code: {exc}") from exc
