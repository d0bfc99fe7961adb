"""The store on SQLite: one server, one file, one writer.

Every write goes through the writer's lane and shares its fsync with what came at the same time;
reads go through lanes of their own and wait for nobody. Hints stay in the process: there is no
other server to hear them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar

from agent_core.json_values import JsonObject
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import IdTaken, StoreUnreachable, UnknownThread
from storage.hints import HALT, Hints, Listener, hints_of
from storage.sqlite import claims as leases
from storage.sqlite import keys, lists, outbox, threads
from storage.sqlite.batches import Fleeting
from storage.sqlite.commits import write
from storage.sqlite.lanes import Lane
from storage.sqlite.opened import Opened
from storage.texts import check_text, is_storable, object_text, scrubbed, written
from storage.values import (
    ApiKey,
    Claim,
    Commit,
    CommitResult,
    Committed,
    Delivery,
    DeliveryStatus,
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

T = TypeVar("T")


class SqliteStore:
    """What lasts, in a file."""

    def __init__(self, path: str | Path, *, shared: bool = False, max_pages: int = 0) -> None:
        """Name the file.

        `shared` is for a command that does one thing beside a running server: it takes no lock,
        and hears no hints. `max_pages` bounds the size of the file, in pages of 4 KB.
        """
        self._file = Opened(Path(path), shared=shared, max_pages=max_pages)
        self._shared = shared
        self._hints = Hints()
        self._writer: Lane | None = None
        self._readers: Lane | None = None

    async def open(self) -> None:
        """Lock the file, make or migrate its tables, and start the threads."""
        await asyncio.to_thread(self._file.open)
        self._writer = self._file.writer()
        self._readers = self._file.readers()
        if not self._shared:
            await self._write_fleeting(leases.forget_all)

    async def close(self) -> None:
        """Finish what was accepted, then let go of the file."""
        for lane in (self._writer, self._readers):
            if lane is not None:
                await lane.close()
        await asyncio.to_thread(self._file.close)
        self._hints.end()

    async def _write(self, job: Callable[[Connection], T]) -> T:
        if self._writer is None:
            raise StoreUnreachable("the store is closed: it was never opened")
        return await self._writer.do(job)

    async def _write_fleeting(self, job: Callable[[Connection], T]) -> T:
        result: T = await self._write(Fleeting(job))
        return result

    async def _read(self, job: Callable[[Connection], T]) -> T:
        if self._readers is None:
            raise StoreUnreachable("the store is closed: it was never opened")
        return await self._readers.do(job)

    # --- writing

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing; durable when this returns."""
        result = await self._write(partial(write, commit=commit, texts=written(commit)))
        if isinstance(result, Committed):
            self._hints.tell(hints_of(commit, result.seq))
        return result

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep the newest snapshot."""
        if not await self._write_fleeting(lambda db: threads.save_snapshot(db, thread, snapshot)):
            raise UnknownThread(f"there is no thread {thread}")

    # --- the engine

    async def claim(self, *, now: Millis, lease_ms: int, limit: int) -> list[Claim]:
        """Lease due threads, longest due first."""
        return await self._write_fleeting(lambda db: leases.claim(db, now, lease_ms, limit))

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Prolong the leases that are still held."""
        return await self._write_fleeting(lambda db: leases.renew(db, claims, now, lease_ms))

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Give a lease back, and tell whether the thread is due again at once."""
        news = await self._write_fleeting(
            lambda db: leases.release(db, claim, handled_seq, wake_at)
        )
        if news:
            self._hints.tell([Hint(claim.thread, news)])
        return news > 0

    # --- the outbox

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Lease what is due to be sent."""
        return await self._write_fleeting(lambda db: outbox.claim(db, now, lease_ms, limit))

    async def end_delivery(
        self,
        delivery: Delivery,
        *,
        status: DeliveryStatus,
        due_at: Millis | None = None,
        receipt: JsonObject | None = None,
        error: str = "",
    ) -> bool:
        """Record a try at sending, if the lease is still held."""
        text = None if receipt is None else object_text(receipt, "receipt")
        words = scrubbed(error)
        return await self._write_fleeting(
            lambda db: outbox.end(db, delivery, status, due_at=due_at, receipt=text, error=words)
        )

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Give a thread's deliveries, in order."""
        if not is_storable(thread):
            return []
        return await self._read(lambda db: outbox.of_thread(db, thread))

    # --- reading

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Give a thread, from its newest snapshot or after an event."""
        if not is_storable(thread):
            return None
        return await self._read(lambda db: threads.load(db, thread, after))

    async def events(self, thread: ThreadId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Give a piece of a log."""
        if not is_storable(thread):
            return []
        return await self._read(lambda db: threads.events(db, thread, after, limit))

    async def thread(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread's row."""
        if not is_storable(thread):
            return None
        return await self._read(lambda db: threads.by_id(db, thread))

    async def thread_by_key(self, agent: str, key: str) -> ThreadRow | None:
        """Find a thread by its key."""
        if not is_storable(agent + key):
            return None
        return await self._read(lambda db: threads.by_key(db, agent, key))

    async def threads(self, wish: Wish) -> Page:
        """List threads."""
        if not is_storable(wish.agent + wish.status):
            return Page([], None)
        return await self._read(lambda db: lists.thread_page(db, wish))

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Give a question."""
        if not is_storable(question):
            return None
        return await self._read(lambda db: lists.question(db, question))

    async def questions(self, wish: Wish) -> QuestionPage:
        """List questions."""
        if not is_storable(wish.agent + wish.status):
            return QuestionPage([], None)
        return await self._read(lambda db: lists.question_page(db, wish))

    async def inbox(self, source: str, key: str) -> InboxRecord | None:
        """Tell what became of a message."""
        if not is_storable(source + key):
            return None
        return await self._read(lambda db: lists.inbox(db, source, key))

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Forget expired inbox keys."""
        return await self._write_fleeting(lambda db: lists.sweep(db, now, limit))

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and free."""
        return await self._read(lambda db: leases.queued(db, now))

    # --- keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        check_text(key.name, "name")
        if not await self._write(lambda db: keys.add(db, key)):
            raise IdTaken(f"there is an API key {key.id} already")

    async def keys(self) -> list[ApiKey]:
        """List all keys."""
        return await self._read(keys.every)

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        if not is_storable(digest):
            return None
        return await self._read(lambda db: keys.by_hash(db, digest))

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless."""
        return await self._write(lambda db: keys.revoke(db, key, now))

    async def halted(self) -> str:
        """Give the reason of the kill switch."""
        return await self._read(keys.halted)

    async def set_halt(self, reason: str) -> None:
        """Pull or lift the kill switch."""
        check_text(reason, "reason")
        await self._write(lambda db: keys.set_halt(db, reason))
        self._hints.tell([HALT])

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._hints.listen()
