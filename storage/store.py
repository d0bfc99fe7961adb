"""The store, as a protocol: what lasts, and the few statements that the gateway needs of it.

Each write touches one thread and is one transaction, `commit`: the events, what lists and queues
cache of them, the questions they opened or closed, what must be said to people, and the key of the
message that caused it all. Either all of it is there after a crash, or none of it.

Three stores keep this protocol, and one contract suite holds them to it: memory, SQLite and
PostgreSQL. Nothing here knows what an event means.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.retention import Retention
from storage.sealed import SealedLog
from storage.values import (
    ApiKey,
    Claim,
    Commit,
    CommitResult,
    Delivery,
    DeliveryEnd,
    FailedWish,
    Hint,
    InboxRecord,
    KeyId,
    Loaded,
    Page,
    QuestionPage,
    QuestionRow,
    Snapshot,
    ThreadRow,
    Wish,
)


class Wakes(Protocol):
    """Hints; never trusted, only listened to. Of several on one topic, the newest may do."""

    def __aiter__(self) -> AsyncIterator[Hint]:
        """Give a hint each time: a thread has grown or is due, the outbox or the halt moved."""
        ...


class Keeping(Protocol):
    """What an owner, such as a channel, remembers across restarts and machines.

    The bytes mean nothing here. From `expires_at` on, what was kept is as if it were not there.
    """

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept."""
        ...

    async def keep(
        self,
        owner: str,
        key: str,
        value: bytes | None,
        *,
        now: Millis,
        expires_at: Millis | None = None,
    ) -> None:
        """Keep it in place of what was there; None forgets, as does a time that has come.

        Durable when this returns.
        """
        ...

    async def take(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give it and forget it: of many callers, in all processes, exactly one gets it.

        After a StoreUnreachable it may be gone, and nobody has it.
        """
        ...

    async def kept(self, owner: str, *, prefix: str = "", now: Millis) -> list[str]:
        """Give the keys that begin so, in the order of their code points."""
        ...


class Audit(Protocol):
    """Looking at what was written, as it stands in the rows; see `storage.seals`."""

    async def logs(self, *, after: str = "", limit: int = 20) -> list[SealedLog]:
        """Give whole threads, in the order of their ids as the store has it, after this one."""
        ...

    async def log(self, thread: ThreadId) -> SealedLog | None:
        """Give one thread."""
        ...

    async def strays(self, *, limit: int = 10) -> list[str]:
        """Name threads of which there are events or deliveries, and no row."""
        ...

    async def begin(self, log: SealedLog, chain: bytes) -> bool:
        """Give a thread its chain, in place of the one read; False if it has moved on since."""
        ...


class Store(Keeping, Protocol):
    """What lasts."""

    async def open(self) -> None:
        """Get ready; raises a StoreError that a person understands if that can't be."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then let go."""
        ...

    # Writing

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing; durable when this returns.

        Raises Overtaken (the log has grown past `seen`), Fenced (the lease of `epoch` is gone),
        UnknownThread, ThreadKeyTaken (another thread of that agent has the key), PlaceTaken
        (another thread has one of the places), or IdTaken (a question of that id was asked in
        another thread, or the thread has such a delivery).
        What is not JSON is refused with NotJson.
        An inbox key that is there already gives Duplicate before any of these.
        A thread that somebody holds is no obstacle to `lease_ms`: only the lease is not given.
        """
        ...

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep a snapshot; only the newest counts."""
        ...

    # The engine

    async def claim(
        self, *, now: Millis, lease_ms: int, limit: int, leave: Collection[ThreadId] = ()
    ) -> list[Claim]:
        """Lease threads whose `wake_at` has come and that nobody holds; longest due first.

        Those to `leave` are left to other processes.
        """
        ...

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Prolong leases; gives those that are still held, with the `seq` that their logs have."""
        ...

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Give a lease back; if the log has grown past `handled_seq`, the thread is due at once.

        "At once" is the time of the last commit, so that it takes its place in the queue.
        Tells whether that is so. A lease that is gone is no error: somebody else has it.
        """
        ...

    # The outbox

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Lease what is due to be sent; within a thread and address, never a later one first.

        So one waits while an earlier one is still `pending`, be it leased or put back.
        """
        ...

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Record tries at sending; False (and nothing written) for each whose lease is gone.

        `pending` with a `due_at` puts it back for a later try; `failed` with one says when that
        was. One that was sent may be `settled` without a lease: the people who got it have been
        shown how the matter ended. And it may have `failed` without one: it came back.
        """
        ...

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Give everything that was or will be said for a thread, in order."""
        ...

    async def failed_deliveries(self, wish: FailedWish) -> list[Delivery]:
        """List what could not be sent, in the order of writing."""
        ...

    async def requeue_deliveries(self, wish: FailedWish, *, now: Millis) -> int:
        """Put it back into the outbox as if it had never been tried; tells how many.

        Each takes the place that it was written at: before what its thread said there later. What
        is wished for without a limit must be asked for again until nothing is left.
        """
        ...

    # Reading

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Give a thread: from its newest snapshot, or only the events after `after`."""
        ...

    async def events(self, thread: ThreadId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Give a piece of a log, oldest first."""
        ...

    async def thread(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread's row."""
        ...

    async def thread_by_key(self, agent: str, key: str) -> ThreadRow | None:
        """Find a thread by the key that its source gave it."""
        ...

    async def thread_at(self, place: str) -> ThreadId | None:
        """Find the thread that a place belongs to."""
        ...

    async def takes_part(self, thread: ThreadId, parties: Sequence[str]) -> bool:
        """Tell whether one of them has a part in the thread."""
        ...

    async def threads(self, wish: Wish) -> Page:
        """List threads, newest first."""
        ...

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Give a question, wherever it was asked."""
        ...

    async def questions(self, wish: Wish) -> QuestionPage:
        """List questions, oldest first."""
        ...

    async def inbox(self, source: str, key: str) -> InboxRecord | None:
        """Tell what became of a message."""
        ...

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Forget what has expired in the inbox and of what is kept; tells how many.

        Never more than `limit` at a time.
        """
        ...

    async def spend(self, spent: Mapping[str, int]) -> Mapping[str, int]:
        """Move buckets on by so many milliseconds each, for all processes of this store.

        A bucket is the time at which it is full again; gives how far each is ahead of now. Names
        are of ASCII and short.
        """
        ...

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and that nobody holds."""
        ...

    # Keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        ...

    async def keys(self) -> list[ApiKey]:
        """List all keys, also revoked ones."""
        ...

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        ...

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless; False if there is no such key or it was before."""
        ...

    async def halted(self) -> str:
        """Give the reason of the kill switch, or nothing."""
        ...

    async def set_halt(self, reason: str) -> None:
        """Pull the kill switch on every machine; an empty reason lifts it."""
        ...

    # Looking and listening

    def audit(self) -> Audit:
        """Look at what was written, byte by byte."""
        ...

    def retention(self) -> Retention:
        """Let go of what need not be kept, and of what must not."""
        ...

    def wakes(self) -> Wakes:
        """Listen for hints, from now on and until the store closes."""
        ...
