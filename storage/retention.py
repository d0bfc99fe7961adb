"""Letting go, as a protocol: threads that ended long ago, and what somebody wrote.

Each write is one transaction of one thread, on the condition that nobody has touched it since it
was read: so it may be done beside running servers, a little at a time, and again after a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis, PersonErased, ThreadId
from agent_core.thread.questions import QuestionId
from storage.values import CachedStatus, DeliveryId, QuestionRow, Snapshot


class EndedWish(Struct, frozen=True, kw_only=True, gc=False):
    """Which ended threads to list."""

    statuses: tuple[CachedStatus, ...] = ("finished", "failed", "cancelled")
    before: Millis
    """Only those that nobody has touched since."""
    agent: str = ""
    after: tuple[Millis, str] = (Millis(-1), "")
    """Go on after the one that began then."""
    limit: int = 100


class Ended(NamedTuple):
    """A thread that is over, as far as its row tells."""

    thread: ThreadId
    agent: str
    status: CachedStatus
    created_at: Millis
    updated_at: Millis


class Tombstone(Struct, frozen=True, kw_only=True, gc=False):
    """What is left of a thread that was purged: that it was, and what an audit needs."""

    thread: ThreadId
    at: Millis
    by: str
    seq: int
    """How many events it had."""
    entries: int
    """How many events and deliveries; if it came back and was purged again, of all times."""
    chain: bytes | None
    """Where its chain ended."""
    records: bytes
    """A keyed digest of all its entries, for an export that has all of them."""
    mark: bytes
    """A keyed hash of all of this: only who has the key can purge without a trace of doubt."""


ERASED = "erased"
"""Why a delivery was not sent, if whom it was for was erased first."""


class Purge(Struct, frozen=True, kw_only=True, gc=False):
    """Delete a thread with all that hangs on it, if it is still as it was read, and over."""

    tombstone: Tombstone
    updated_at: Millis
    """As it was read."""
    questions: Sequence[QuestionId] = ()
    """Those that its log asked: the index of questions knows no threads."""
    now: Millis


class RewrittenDelivery(Struct, frozen=True, kw_only=True, gc=False):
    """A delivery with other words in it."""

    id: DeliveryId
    address: str
    body: JsonObject
    clears: bool = False
    """Its receipt and its error go, too."""
    ends: bool = False
    """If it is still to be sent, it never is; whoever sends it just now has it no more."""


class Rewrite(Struct, frozen=True, kw_only=True, gc=False):
    """Put other words into rows of a thread, and append what tells of it, all or nothing."""

    thread: ThreadId
    seen: int
    updated_at: Millis
    chain: bytes | None
    """As it was read: any event or delivery that came since has moved it."""
    events: Sequence[tuple[int, str]]
    """By their place, as text."""
    deliveries: Sequence[RewrittenDelivery]
    erased: PersonErased
    origin: str
    requester: str
    thread_key: str
    summary: JsonObject
    questions: Sequence[QuestionRow]
    """Those of its rows in the index that it must have from now on."""
    snapshot: Snapshot | None
    """In place of the one that is there, so that no older one can come back."""
    now: Millis


class Retention(Protocol):
    """What only letting go needs of a store."""

    async def ended(self, wish: EndedWish) -> list[Ended]:
        """List threads that are over: the oldest first, by when they began.

        Never one that somebody holds, that is due some time, or that has something to send.
        """
        ...

    async def purge(self, purge: Purge) -> list[str] | None:
        """Delete it, and keep its tombstone; gives the places that were its own.

        None if it has moved on since it was read, or is not over.
        """
        ...

    async def tombstone(self, thread: ThreadId) -> Tombstone | None:
        """Tell what became of a thread that is gone."""
        ...

    async def tombstones(self, *, after: str = "", limit: int = 1000) -> list[Tombstone]:
        """Give them in the order of the ids."""
        ...

    async def mark(self, stone: Tombstone) -> None:
        """Give a tombstone this mark: the key was replaced."""
        ...

    async def forget_copies(
        self, after: tuple[str, str] = ("", ""), *, limit: int = 1000
    ) -> tuple[str, str] | None:
        """Look at some inbox keys after this one, and forget those whose threads are gone.

        Gives the last that it looked at; None when there are no more.
        """
        ...

    async def rewrite(self, rewrite: Rewrite) -> bool:
        """Put other words into a thread; False if it has moved on, or somebody holds it."""
        ...

    async def forget_places(self, addresses: Sequence[str]) -> int:
        """Forget places that are, or lie below, one of these in any case; tells how many."""
        ...

    async def forget_parties(self, parties: Sequence[str]) -> int:
        """Forget that these, in lower case, had a part in any thread; tells in how many."""
        ...

    async def forget_senders(self, sources: Sequence[str], words: Sequence[str]) -> int:
        """Forget inbox keys of these sources, or in which one of these words occurs; in any case.

        Words are given in lower case.
        """
        ...

    async def forget_kept(
        self, owner: str, prefix: str, *, expiring_before: Millis, limit: int = 500
    ) -> int:
        """Forget what is kept under names that begin so before its time; tells how many."""
        ...

    async def scour(self) -> bool:
        """See that what was replaced is not left in the files, as far as we can; tell if we could.

        Copies elsewhere, such as backups and PostgreSQL's own log, are out of our reach.
        """
        ...
