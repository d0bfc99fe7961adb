"""The store on PostgreSQL: any number of processes on any number of machines.

PostgreSQL does the coordinating: rows are locked, leases are fenced by their epoch, and hints go
round by NOTIFY. Each method is one statement; commits that come at once share one.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import IdTaken, UnknownThread
from storage.hints import Hints, Listener
from storage.migrations.versions import check_version
from storage.postgres import commits, outbox, rows, statements
from storage.postgres.audit import PostgresAudit
from storage.postgres.batching import Batcher, Job, Outcome
from storage.postgres.driver import Driver, Row, Tuning
from storage.postgres.failures import Clash
from storage.postgres.listening import Listening
from storage.postgres.lists import question_page, thread_page
from storage.seals import Seal, sealed
from storage.texts import (
    check_names,
    check_text,
    is_storable,
    read_events,
    written,
    written_ends,
)
from storage.values import (
    ApiKey,
    Claim,
    Commit,
    CommitResult,
    Delivery,
    DeliveryEnd,
    FailedWish,
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

_LANES = 2
"""One writes while the other is being filled or waits for a lock; more make batches smaller."""
_LARGEST_BATCH = 64


class PostgresStore:
    """What lasts, in a database of its own."""

    def __init__(self, url: str, tuning: Tuning | None = None, *, seal: Seal | None = None) -> None:
        """Name the database: `postgresql://user@host/name`.

        With a `seal` every thread carries a chain that makes changes visible.
        """
        self._seal = seal
        self._driver = Driver(url, Tuning() if tuning is None else tuning)
        self._hints = Hints()
        self._listening = Listening(self._driver.connect, self._hints)
        self._batcher = Batcher(self._write, lanes=_LANES, most=_LARGEST_BATCH)

    async def open(self) -> None:
        """Connect, see that the tables are those of this code, and listen."""
        await self._driver.open()
        try:
            await self._check_schema()
        except BaseException:
            await self._driver.close()
            raise
        await self._listening.start()

    async def _check_schema(self) -> None:
        """Refuse tables of another version; without any, the statement itself fails as too old."""
        found = await self._again(statements.VERSION)
        check_version(found[0]["version_num"] if found else None)

    async def close(self) -> None:
        """Finish what was accepted, then let go."""
        await self._batcher.close()
        await self._listening.stop()
        await self._driver.close()

    # --- writing

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing.

        After a lost connection it may be there all the same: whoever gets StoreUnreachable reads
        the thread again, or sends the same inbox key again.
        """
        return await self._batcher.submit(Job(commit, sealed(self._seal, commit, written(commit))))

    async def _write(self, jobs: Sequence[Job]) -> list[Outcome]:
        return await commits.write(self._driver, jobs)

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep the newest snapshot."""
        arguments = (thread, snapshot.seq, snapshot.body)
        if not await self._again(statements.SAVE_SNAPSHOT, *arguments):
            raise UnknownThread(f"there is no thread {thread}")

    # --- the engine

    async def claim(self, *, now: Millis, lease_ms: int, limit: int) -> list[Claim]:
        """Lease due threads, longest due first."""
        return [
            rows.claim(row) for row in await self._again(statements.CLAIM, now, lease_ms, limit)
        ]

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Prolong the leases that are still held."""
        if not claims:
            return []
        threads = [claim.thread for claim in claims]
        epochs = [claim.epoch for claim in claims]
        found = await self._again(statements.RENEW, threads, epochs, now + lease_ms)
        return [rows.claim(row) for row in found]

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Give a lease back, and tell whether the thread is due again at once."""
        arguments = (claim.thread, claim.epoch, handled_seq, wake_at)
        found = await self._again(statements.RELEASE, *arguments)
        return bool(found and found[0]["has_grown"])

    # --- the outbox

    async def claim_deliveries(self, *, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
        """Lease what is due, the first of each thread and address."""
        found = await self._again(statements.CLAIM_DELIVERIES, now, lease_ms, limit)
        return [rows.delivery(row) for row in found]

    async def end_deliveries(self, ends: Sequence[DeliveryEnd]) -> list[bool]:
        """Record tries at sending, each if its lease is still held."""
        return await outbox.end(self._driver, written_ends(ends))

    async def deliveries(self, thread: ThreadId) -> list[Delivery]:
        """Give a thread's deliveries, in order."""
        return [rows.delivery(row) for row in await self._find(statements.DELIVERIES, thread)]

    async def failed_deliveries(self, wish: FailedWish) -> list[Delivery]:
        """List what could not be sent."""
        return await outbox.failed(self._driver, wish)

    async def requeue_deliveries(self, wish: FailedWish, *, now: Millis) -> int:
        """Put it back into the outbox."""
        return await outbox.requeue(self._driver, wish, now)

    # --- reading

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Give a thread, from its newest snapshot or after an event."""
        found = await self._find(statements.LOAD, thread, after)
        return rows.loaded(found[0]) if found else None

    async def events(self, thread: ThreadId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        """Give a piece of a log."""
        found = await self._find(statements.EVENTS, thread, after, limit)
        return read_events(found[0]["log"] or "", thread) if found else []

    async def thread(self, thread: ThreadId) -> ThreadRow | None:
        """Give a thread's row."""
        found = await self._find(statements.THREAD, thread)
        return rows.thread(found[0]) if found else None

    async def thread_by_key(self, agent: str, key: str) -> ThreadRow | None:
        """Find a thread by its key."""
        found = await self._find(statements.THREAD_BY_KEY, agent, key)
        return rows.thread(found[0]) if found else None

    async def thread_at(self, place: str) -> ThreadId | None:
        """Find the thread of a place."""
        found = await self._find(statements.THREAD_AT, place)
        return found[0]["thread"] if found else None

    async def threads(self, wish: Wish) -> Page:
        """List threads."""
        return await thread_page(self._driver, wish)

    async def question(self, question: QuestionId) -> QuestionRow | None:
        """Give a question."""
        found = await self._find(statements.QUESTION, question)
        return rows.question(found[0]) if found else None

    async def questions(self, wish: Wish) -> QuestionPage:
        """List questions."""
        return await question_page(self._driver, wish)

    async def inbox(self, source: str, key: str) -> InboxRecord | None:
        """Tell what became of a message."""
        found = await self._find(statements.INBOX, source, key)
        return rows.inbox(found[0]) if found else None

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Forget what has expired."""
        [row] = await self._again(statements.SWEEP, now, limit)
        return int(row["gone"])

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and free."""
        [row] = await self._again(statements.QUEUED, now)
        return int(row["queued"])

    # --- what is kept for others

    async def recall(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give what was kept."""
        found = await self._find(statements.RECALL, owner, key, now)
        return found[0]["value"] if found else None

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
        if value is None or (expires_at is not None and expires_at <= now):
            await self._again(statements.FORGET, owner, key)
        else:
            await self._again(statements.KEEP, owner, key, value, expires_at)

    async def take(self, owner: str, key: str, *, now: Millis) -> bytes | None:
        """Give it to one, and forget it; never twice, so a lost connection loses it."""
        if not is_storable(owner + key):
            return None
        found = await self._driver.fetch(statements.TAKE, owner, key, now, again=False)
        return found[0]["value"] if found else None

    async def kept(self, owner: str, *, prefix: str = "", now: Millis) -> list[str]:
        """Give the keys of an owner."""
        return [row["key"] for row in await self._find(statements.KEPT, owner, prefix, now)]

    # --- keys and the kill switch

    async def add_key(self, key: ApiKey) -> None:
        """Keep a key's hash."""
        check_text(key.name, "name")
        scopes = " ".join(key.scopes)
        arguments = (key.id, key.name, key.hash, scopes, key.created_at, key.revoked_at)
        try:
            await self._driver.fetch(statements.ADD_KEY, *arguments, again=False)
        except Clash as clash:
            raise IdTaken(f"there is an API key {key.id} already") from clash

    async def keys(self) -> list[ApiKey]:
        """List all keys."""
        return [rows.key(row) for row in await self._again(statements.KEYS)]

    async def key_by_hash(self, digest: str) -> ApiKey | None:
        """Find a key that was not revoked."""
        found = await self._find(statements.KEY_BY_HASH, digest)
        return rows.key(found[0]) if found else None

    async def revoke_key(self, key: KeyId, *, now: Millis) -> bool:
        """Make a key useless."""
        if not is_storable(key):
            return False
        return bool(await self._driver.fetch(statements.REVOKE_KEY, key, now, again=False))

    async def halted(self) -> str:
        """Give the reason of the kill switch."""
        found = await self._again(statements.HALTED)
        return str(found[0]["value"]) if found else ""

    async def set_halt(self, reason: str) -> None:
        """Pull or lift the kill switch."""
        check_text(reason, "reason")
        await self._again(statements.SET_HALT, reason)

    # --- looking and listening

    def audit(self) -> PostgresAudit:
        """Look at the rows."""
        return PostgresAudit(self._driver)

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._hints.listen()

    async def _find(self, sql: str, *arguments: object) -> list[Row]:
        """Read; text that no row can hold finds nothing."""
        if not all(is_storable(word) for word in arguments if isinstance(word, str)):
            return []
        return await self._again(sql, *arguments)

    async def _again(self, sql: str, *arguments: object) -> list[Row]:
        """Run a statement that does no harm the second time."""
        return await self._driver.fetch(sql, *arguments, again=True)
