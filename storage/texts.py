"""How values are written as text, the same in every store, and what no store takes.

A value is written before any store sees it. So what can't be stored is refused everywhere, with
its place, and nothing passes in memory that a database would refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from agent_core.json_values import Json, JsonObject, plain, plain_object, storable
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import NameTooLong, Unreadable
from storage.values import (
    Commit,
    Delivery,
    DeliveryEnd,
    DeliveryId,
    DeliveryStatus,
    Keep,
    QuestionStatus,
)

_LONGEST_NAME, _LONGEST_NAMES = 2_000, 2_600
"""In bytes: PostgreSQL's indexes take 2,704 for all of an entry. The same holds in every store."""
_SURELY_SHORT = _LONGEST_NAME // 4
"""In characters, of which none takes more than four bytes."""

_encode = msgspec.json.Encoder().encode
_read_events = msgspec.json.Decoder(list[Event]).decode
_read_object = msgspec.json.Decoder(dict[str, Json]).decode


class WrittenQuestion(NamedTuple):
    """A row of the questions index, with its body as text."""

    id: QuestionId
    status: QuestionStatus
    asked_at: Millis
    expires_at: Millis | None
    body: str
    rank: int
    asked: str
    """A line for each, with a line break also before the first and after the last."""


class WrittenDelivery(NamedTuple):
    """A row of the outbox, with its body as text."""

    id: DeliveryId
    address: str
    body: str
    due_at: Millis
    question: QuestionId | None


class WrittenEnd(NamedTuple):
    """What became of a try at sending, with its receipt as text."""

    thread: ThreadId
    id: DeliveryId
    epoch: int
    status: DeliveryStatus
    due_at: Millis | None
    receipt: str | None
    error: str
    place: str
    """Empty if nothing is to be bound."""
    since: Millis
    untried: int
    """How many attempts to take back: 1, or 0."""


class Written(NamedTuple):
    """The parts of a commit that are kept as text."""

    events: list[str]
    summary: str | None
    questions: list[WrittenQuestion]
    deliveries: list[WrittenDelivery]
    places: list[str]
    parties: list[str]
    growth: bytes | None = None
    """A new thread's chain, or the links by which another's grows; see `storage.seals`."""


def written(commit: Commit) -> Written:
    """Write what a commit holds, or raise NotJson with the place of what can't be stored."""
    _check_leases(commit)
    _check_words(commit)
    return Written(
        [event_text(event) for event in commit.events],
        None if commit.summary is None else object_text(commit.summary, "summary"),
        [
            WrittenQuestion(
                row.id,
                row.status,
                row.asked_at,
                row.expires_at,
                object_text(row.body, "question"),
                row.rank,
                asked_text(row.asked),
            )
            for row in commit.questions
        ],
        [
            WrittenDelivery(
                row.id, row.address, object_text(row.body, "delivery"), row.due_at, row.question
            )
            for row in commit.deliveries
        ],
        list(dict.fromkeys(place for place in commit.places if place)),
        list(dict.fromkeys(party for party in commit.parties if party)),
    )


def asked_text(asked: Sequence[str]) -> str:
    """Write who is asked, so that a whole name can be found in it."""
    return "\n".join(("", *asked, "")) if asked else ""


def read_asked(text: str) -> tuple[str, ...]:
    """Read who is asked."""
    return tuple(text.strip("\n").split("\n")) if text else ()


def written_ends(ends: Sequence[DeliveryEnd]) -> list[WrittenEnd]:
    """Write what became of tries at sending; a vendor's words of an error cause none."""
    return [
        WrittenEnd(
            end.delivery.thread,
            end.delivery.id,
            end.delivery.epoch,
            end.status,
            end.due_at,
            None if end.receipt is None else object_text(end.receipt, "receipt"),
            scrubbed(end.error),
            # What was sent is sent: a place that can't be stored must not make it fail.
            end.place if end.status == "sent" and _is_name(end.place) else "",
            end.delivery.due_at or Millis(0),
            int(end.is_untried),
        )
        for end in ends
    ]


def leased_delivery(commit: Commit, row: WrittenDelivery, seq: int) -> Delivery:
    """Give a new delivery as it is when it was leased to whoever wrote it."""
    return Delivery(
        id=row.id,
        thread=commit.thread,
        seq=seq,
        address=row.address,
        body=read_object(row.body),
        question=row.question,
        status="pending",
        due_at=row.due_at,
        lease_until=Millis(commit.now + (commit.send_lease_ms or 0)),
        epoch=1,
        attempts=1,
        receipt=None,
        error="",
    )


def _check_leases(commit: Commit) -> None:
    if commit.release:
        if commit.epoch is None or commit.seen is None:
            raise ValueError("a commit that releases needs the epoch that it holds, and seen")
        if isinstance(commit.wake_at, Keep):
            raise ValueError("a commit that releases says when the thread is due again")
    if commit.lease_ms is not None and commit.epoch is not None:
        raise ValueError("a commit that holds the lease can't ask for it")


def _check_words(commit: Commit) -> None:
    """Check all at once what is seldom wrong, and each only to say which."""
    words = list(_words(commit))
    together = "".join([word for _, word in words])
    if not is_storable(together):
        for path, word in words:
            check_text(word, path)
    if len(together) > _SURELY_SHORT:
        for path, names in _indexed(commit):
            check_names(path, *names)


def _indexed(commit: Commit) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give the names that an index holds, together as it does."""
    yield "thread", (commit.thread,)
    if commit.create is not None:
        yield "requester", (commit.create.requester, commit.thread)
        yield "thread_key", (commit.create.thread_key, commit.create.agent)
    if commit.inbox is not None:
        yield "inbox.key", (commit.inbox.key, commit.inbox.source)
    for place in commit.places:
        yield "place", (place,)
    for party in commit.parties:
        yield "party", (party, commit.thread)
    for question in commit.questions:
        yield "question.id", (question.id,)
    for delivery in commit.deliveries:
        yield "delivery.id", (delivery.id, commit.thread)
        yield "delivery.address", (delivery.address, commit.thread)


def check_names(path: str, *names: str) -> None:
    """Raise NameTooLong if an index would refuse these names; `path` names the first."""
    sizes = [len(name.encode()) for name in names]
    if max(sizes) > _LONGEST_NAME or sum(sizes) > _LONGEST_NAMES:
        raise NameTooLong(
            f"{path} is too long: {sizes[0]:,} bytes; a name may have {_LONGEST_NAME:,}, and "
            f"{_LONGEST_NAMES:,} together with those it belongs to"
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
    for place in commit.places:
        yield "place", place
    for party in commit.parties:
        yield "party", party
    for question in commit.questions:
        if question.thread != commit.thread:
            raise ValueError(f"question {question.id} is of another thread than the commit")
        yield "question.id", question.id
        yield from (("question.asked", one) for one in question.asked)
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


def after_prefix(prefix: str) -> str:
    """Give the first text, by code points, after all that begin so; nothing if there is none."""
    stem = prefix.rstrip(_LAST)
    if not stem:
        return ""
    following = ord(stem[-1]) + 1
    # No text holds half a surrogate pair: what comes after them is next.
    return stem[:-1] + chr(_AFTER_SURROGATES if following == _SURROGATES else following)


_LAST, _SURROGATES, _AFTER_SURROGATES = chr(0x10FFFF), 0xD800, 0xE000


def _is_name(text: str) -> bool:
    """Tell whether every index takes this text, alone."""
    return is_storable(text) and len(text.encode()) <= _LONGEST_NAME


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
