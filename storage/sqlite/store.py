"""The store on SQLite: one server, one file, one writer.

Each method is a job for one of the ways to the file. Hints stay in the process: there is no other
server to hear them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import IdTaken, UnknownThread
from storage.hints import DELIVERIES, HALT, Hints, Listener, hints_of
from storage.rates import OneProcess
from storage.seals import Seal, sealed
from storage.sqlite import claims as leases
from storage.sqlite import kept, keys, lists, outbox, places, threads
from storage.sqlite import parties as sharing
from storage.sqlite.access import Access
from storage.sqlite.audit import SqliteAudit
from storage.sqlite.commits import write
from storage.sqlite.retention import SqliteRetention
from storage.texts import check_names, check_text, is_storable, written, written_ends
from storage.values import (
    ApiKey,
    Claim,
    Commit,
    CommitResult,
    Committed,
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


class SqliteStore:
    """What lasts, in a file."""

    def __init__(
        self,
        path: str | Path,
        *,
        shared: bool = False,
        max_pages: int = 0,
        seal: Seal | None = None,
    ) -> None:
        """Name the file.

        `shared` is for a command that does one thing beside a running server: it takes no lock,
        and hears no hints. `max_pages` bounds the size of the file, in pages of 4 KB.
        With a `seal` every thread carries a chain that makes changes visible.
        """
        self._db = Access(Path(path), shared=shared, max_pages=max_pages)
        self._shared = shared
        self._seal = seal
        self._rates = OneProcess()
        self._hints = Hints()

    async def open(self) -> None:
        """Lock the file, make or migrate its tables, and start the threads."""
        await self._db.open()
        if not self._shared:
            await self._db.write_fleeting(leases.forget_all)

    async def close(self) -> None:
        """Finish what was accepted, then let go of the file."""
        await self._db.close()
        self._hints.end()

    # --- writing

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing; durable when this returns."""
        texts = sealed(self._seal, commit, written(commit))
        result = await self._db.write(partial(write, commit=commit, texts=texts))
        if isinstance(result, Committed):
            self._hints.tell(hints_of(commit, result))
        return result

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep the newest snapshot."""
        if not await self._db.write_fleeting(
            lambda db: threads.save_snapshot(db, thread, snapshot)
        ):
            raise UnknownThread(f"there is no thread {thread}")

    # --- the engine

    async def claim(
        self, *, now: Millis, lease_ms: int, limit: int, leave: Collection[ThreadId] = ()
    ) -> list[Claim]:
        """Lease due threads, longest due first."""
        if not await self._db.glance(lambda db: leases.any_due(db, now)):
            return []
        return await self._db.write_fleeting(
            lambda db: leases.claim(db, now, lease_ms, limit, leave)
        )

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Prolong the leases that are still held."""
        return await self._db.write_fleeting(lambda db: leases.renew(db, claims, now, lease_ms))

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Give a lease back, and tell whether the thread is due again at once."""
        news = await self._db.write_fleeting(
            lambda db: leases.release(db, claim, handled_seq, wake_at)
        )
        if news:
            self._hints.tell([Hint(claim.thread, news)])
        return news > 0

    # --- the outbox

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Lease what is due to be sent."""
        if not await self._db.glance(lambda db: outbox.any_due(db, now)):
            return []
        return await self._db.write_fleeting(lambda db: outbox.claim(db, now, lease_ms, limit))

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Record tries at sending, each if its lease is still held."""
        texts = written_ends(ends)
        return await self._db.write_fleeting(lambda db: outbox.end(db, texts), by_and_by=True)

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Give a thread's deliveries, in order."""
        if not is_storable(thread):
            return []
        return await self._db.read(lambda db: outbox.of_thread(db, thread))

    async def failed_deliveries(self, wish: FailedWish) -> list[Delivery]:
        """List what could not be sent."""
        if not is_storable(wish.prefix + wish.address + wish.thread):
            return []
        return await self._db.read(lambda db: outbox.failed(db, wish))

    async def requeue_deliveries(self, wish: FailedWish, *, now: Millis) -> int:
        """Put it back into the outbox."""
        if not is_storable(wish.prefix + wish.address + wish.thread):
            return 0
        done = await self._db.write(lambda db: outbox.requeue(db, wish, now))
        if done:
            self._hints.tell([Hint(DELIVERIES, 0)])
        return done

    # --- reading

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Give a thread, from its newest snapshot or after an event."""
        if not is_storable(thread):
            return None
        if await self._db.glance(lambda db: threads.is_short(db, thread, after)):
            return await self._db.glance(lambda db: threads.load(db, thread, after))
        return await self._db.read(lambda db: threads.load(db, thread, after))

    async def events(self, thread: ThreadId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Give a piece of a log."""
        if not is_storable(thread):
            return []
        return await self._db.read(lambda db: threads.events(db, thread, after, limit))

    async def thread(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread's row."""
        if not is_storable(thread):
            return None
        return await self._db.glance(lambda db: threads.by_id(db, thread))

    async def thread_by_key(self, agent: str, key: str) -> ThreadRow | None:
        """Find a thread by its key."""
        if not is_storable(agent + key):
            return None
        return await self._db.glance(lambda db: threads.by_key(db, agent, key))

    async def thread_at(self, place: str) -> ThreadId | None:
        """Find the thread of a place."""
        if not is_storable(place):
            return None
        return await self._db.glance(lambda db: places.thread_at(db, place))

    async def takes_part(self, thread: ThreadId, parties: Sequence[str]) -> bool:
        """Tell whether one of them has a part in it."""
        named = [one for one in parties if is_storable(one)]
        if not named or not is_storable(thread):
            return False
        return await self._db.glance(lambda db: sharing.takes_part(db, thread, named))

    async def threads(self, wish: Wish) -> Page:
        """List threads."""
        if not is_storable("".join((wish.agent, wish.requester, wish.status, *wish.parties))):
            return Page([], None)
        return await self._db.read(lambda db: lists.thread_page(db, wish))

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Give a question."""
        if not is_storable(question):
            return None
        return await self._db.glance(lambda db: lists.question(db, question))

    async def questions(self, wish: Wish) -> QuestionPage:
        """List questions."""
        if not is_storable("".join((wish.agent, wish.status, *wish.parties))):
            return QuestionPage([], None)
        return await self._db.read(lambda db: lists.question_page(db, wish))

    async def inbox(self, source: str, key: str) -> InboxRecord | None:
        """Tell what became of a message."""
        if not is_storable(source + key):
            return None
        return await self._db.glance(lambda db: lists.inbox(db, source, key))

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Forget what has expired."""
        return await self._db.write_fleeting(lambda db: kept.sweep(db, now, limit))

    async def spend(self, spent: Mapping[str, int]) -> Mapping[str, int]:
        """Move buckets on; nobody else is on this file, and no bucket is worth a write."""
        return self._rates.spend(spent)

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and free."""
        return await self._db.glance(lambda db: leases.queued(db, now))

    # --- what is kept for others

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept."""
        if not is_storable(owner + key):
            return None
        return await self._db.glance(lambda db: kept.recall(db, owner, key, now))

    async def keep(
        self,
        owner: str,
        key: str,
        value: bytes | None,
        *,
        now: Millis,
        expires_at: Millis | None = None,
    ) -> None:
        """Keep it, or forget it."""
        check_text(owner, "owner")
        check_text(key, "key")
        check_names("key", key, owner)
        await self._db.write(
            lambda db: kept.keep(db, owner, key, value, now=now, expires_at=expires_at)
        )

    async def take(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give it to one, and forget it."""
        if not is_storable(owner + key):
            return None
        return await self._db.write(lambda db: kept.take(db, owner, key, now))

    async def kept(self, owner: str, *, prefix: str = "", now: Millis) -> list[str]:
        """Give the keys of an owner."""
        if not is_storable(owner + prefix):
            return []
        return await self._db.read(lambda db: kept.keys(db, owner, prefix, now))

    # --- keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        check_text(key.name, "name")
        if not await self._db.write(lambda db: keys.add(db, key)):
            raise IdTaken(f"there is an API key {key.id} already")

    async def keys(self) -> list[ApiKey]:
        """List all keys."""
        return await self._db.read(keys.every)

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        if not is_storable(digest):
            return None
        return await self._db.glance(lambda db: keys.by_hash(db, digest))

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless."""
        return await self._db.write(lambda db: keys.revoke(db, key, now))

    async def halted(self) -> str:
        """Give the reason of the kill switch."""
        return await self._db.glance(keys.halted)

    async def set_halt(self, reason: str) -> None:
        """Pull or lift the kill switch."""
        check_text(reason, "reason")
        await self._db.write(lambda db: keys.set_halt(db, reason))
        self._hints.tell([HALT])

    # --- looking and listening

    def audit(self) -> SqliteAudit:
        """Look at the rows."""
        return SqliteAudit(self._db)

    def retention(self) -> SqliteRetention:
        """Let go."""
        return SqliteRetention(self._db, self._seal, self._hints)

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._hints.listen()
