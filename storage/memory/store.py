"""The twin itself: the protocol over dictionaries. Nothing here waits, so nothing comes between."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import IdTaken, StoreUnreachable, UnknownThread
from storage.hints import DELIVERIES, HALT, Hints, Listener, hints_of
from storage.memory import kept, outbox
from storage.memory.audit import MemoryAudit
from storage.memory.commits import write
from storage.memory.lists import is_due, question_page, thread_page
from storage.memory.retention import MemoryRetention
from storage.memory.tables import MemoryTables, own_question, own_thread
from storage.seals import Seal, sealed
from storage.texts import check_text, read_events, written, written_ends
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


class MemoryStore:
    """A store that lasts as long as its tables."""

    def __init__(self, tables: MemoryTables | None = None, *, seal: Seal | None = None) -> None:
        """Use tables of its own, or those of other stores; with a `seal`, chains are kept."""
        self._tables = MemoryTables() if tables is None else tables
        self._seal = seal
        self._hints = Hints()

    async def open(self) -> None:
        """Hear what other stores on the same tables do."""
        self._tables.hints.append(self._hints)

    async def close(self) -> None:
        """Let the listeners go."""
        if self._hints in self._tables.hints:
            self._tables.hints.remove(self._hints)
        self._hints.end()

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing."""
        if self._hints not in self._tables.hints:
            raise StoreUnreachable("the store is closed")
        result = write(self._tables, commit, sealed(self._seal, commit, written(commit)))
        if isinstance(result, Committed):
            self._tables.tell(hints_of(commit, result))
        return result

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep the newest snapshot."""
        if thread not in self._tables.threads:
            raise UnknownThread(f"there is no thread {thread}")
        newest = self._tables.snapshots.get(thread)
        if newest is None or snapshot.seq > newest.seq:
            self._tables.snapshots[thread] = snapshot

    # --- the engine

    async def claim(
        self, *, now: Millis, lease_ms: int, limit: int, leave: Collection[ThreadId] = ()
    ) -> list[Claim]:
        """Lease due threads, longest due first."""
        due = sorted(
            (row.wake_at or 0, row.id, row)
            for row in self._tables.threads.values()
            if is_due(row.wake_at, row.lease_until, now) and row.id not in leave
        )
        return [self._lease(row, Millis(now + lease_ms)) for _, _, row in due[:limit]]

    def _lease(self, row: ThreadRow, until: Millis) -> Claim:
        leased = replace(row, epoch=row.epoch + 1, lease_until=until)
        self._tables.threads[row.id] = leased
        return Claim(row.id, leased.epoch, leased.seq)

    def _held(self, claim: Claim) -> ThreadRow | None:
        row = self._tables.threads.get(claim.thread)
        if row is None or row.epoch != claim.epoch or row.lease_until is None:
            return None
        return row

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Prolong the leases that are still held."""
        held = [row for row in map(self._held, claims) if row is not None]
        for row in held:
            self._tables.threads[row.id] = replace(row, lease_until=Millis(now + lease_ms))
        return [Claim(row.id, row.epoch, row.seq) for row in held]

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Give a lease back, and tell whether the thread is due again at once."""
        row = self._held(claim)
        if row is None:
            return False
        grown = row.seq > handled_seq
        self._tables.threads[row.id] = replace(
            row,
            lease_until=None,
            handled_seq=handled_seq,
            wake_at=row.updated_at if grown else wake_at,
        )
        if grown:
            self._tables.tell([Hint(row.id, row.seq)])
        return grown

    # --- the outbox

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Lease what is due, the first of each thread and address."""
        return outbox.claim(self._tables, now, lease_ms, limit)

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Record tries at sending, each if its lease is still held."""
        return [outbox.end(self._tables, end) for end in written_ends(ends)]

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Give a thread's deliveries, in order."""
        return outbox.of_thread(self._tables, thread)

    async def failed_deliveries(self, wish: FailedWish) -> list[Delivery]:
        """List what could not be sent."""
        return outbox.failed(self._tables, wish)

    async def requeue_deliveries(self, wish: FailedWish, *, now: Millis) -> int:
        """Put it back into the outbox."""
        done = outbox.requeue(self._tables, wish, now)
        if done:
            self._tables.tell([Hint(DELIVERIES, 0)])
        return done

    # --- reading

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Give a thread, from its newest snapshot or after an event."""
        row = self._tables.threads.get(thread)
        if row is None:
            return None
        snapshot = self._tables.snapshots.get(thread) if after is None else None
        start = after or (0 if snapshot is None else snapshot.seq)
        texts = self._tables.events[thread][start:]
        return Loaded(own_thread(row), snapshot, read_events(",".join(texts), thread))

    async def events(self, thread: ThreadId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Give a piece of a log."""
        texts = self._tables.events.get(thread, [])[after : after + limit]
        return read_events(",".join(texts), thread)

    async def thread(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread's row."""
        row = self._tables.threads.get(thread)
        return None if row is None else own_thread(row)

    async def thread_by_key(self, agent: str, key: str) -> ThreadRow | None:
        """Find a thread by its key."""
        for row in self._tables.threads.values():
            if key and (row.agent, row.thread_key) == (agent, key):
                return own_thread(row)
        return None

    async def thread_at(self, place: str) -> ThreadId | None:
        """Find the thread of a place."""
        return self._tables.places.get(place, (None, None))[0]

    async def takes_part(self, thread: ThreadId, parties: Sequence[str]) -> bool:
        """Tell whether one of them has a part in it."""
        return not self._tables.parties.get(thread, set()).isdisjoint(parties)

    async def threads(self, wish: Wish) -> Page:
        """List threads."""
        return thread_page(self._tables, wish)

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Give a question."""
        row = self._tables.questions.get(question)
        return None if row is None else own_question(row)

    async def questions(self, wish: Wish) -> QuestionPage:
        """List questions."""
        return question_page(self._tables, wish)

    async def inbox(self, source: str, key: str) -> InboxRecord | None:
        """Tell what became of a message."""
        record, _ = self._tables.inbox.get((source, key), (None, None))
        return record

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Forget what has expired."""
        return kept.sweep(self._tables, now, limit)

    async def spend(self, spent: Mapping[str, int]) -> Mapping[str, int]:
        """Move buckets on."""
        return self._tables.rates.spend(spent)

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and free."""
        rows = self._tables.threads.values()
        return sum(is_due(row.wake_at, row.lease_until, now) for row in rows)

    # --- what is kept for others

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept."""
        return kept.recall(self._tables, owner, key, now)

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
        kept.keep(self._tables, owner, key, value, now=now, expires_at=expires_at)

    async def take(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give it to one, and forget it."""
        return kept.take(self._tables, owner, key, now)

    async def kept(self, owner: str, *, prefix: str = "", now: Millis) -> list[str]:
        """Give the keys of an owner."""
        return kept.keys(self._tables, owner, prefix, now)

    # --- keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        check_text(key.name, "name")
        for there in self._tables.keys.values():
            if there.id == key.id or there.hash == key.hash:
                raise IdTaken(f"there is an API key {key.id} already")
        self._tables.keys[key.id] = key

    async def keys(self) -> list[ApiKey]:
        """List all keys."""
        return sorted(self._tables.keys.values(), key=lambda key: (key.created_at, key.id))

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        for key in self._tables.keys.values():
            if key.hash == digest and key.revoked_at is None:
                return key
        return None

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless."""
        there = self._tables.keys.get(key)
        if there is None or there.revoked_at is not None:
            return False
        self._tables.keys[key] = replace(there, revoked_at=now)
        return True

    async def halted(self) -> str:
        """Give the reason of the kill switch."""
        return self._tables.halt

    async def set_halt(self, reason: str) -> None:
        """Pull or lift the kill switch."""
        check_text(reason, "reason")
        self._tables.halt = reason
        self._tables.tell([HALT])

    # --- looking and listening

    def audit(self) -> MemoryAudit:
        """Look at the tables."""
        return MemoryAudit(self._tables)

    def retention(self) -> MemoryRetention:
        """Let go."""
        return MemoryRetention(self._tables, self._seal)

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._hints.listen()
