"""The store on PostgreSQL: any number of processes on any number of machines.

PostgreSQL does the coordinating: rows are locked, leases are fenced by their epoch, and hints go
round by NOTIFY (`saying`, `listening`). Each method is one statement; commits that come at once
share one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence

from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import StoreError, UnknownThread
from storage.hints import Hints, Listener, hints_of
from storage.migrations.versions import HEAD, SERVES_NAME, check_version
from storage.postgres import commits, outbox, rows, statements
from storage.postgres.audit import PostgresAudit
from storage.postgres.batching import Batcher, Job, Outcome
from storage.postgres.driver import Driver, Tuning
from storage.postgres.keeping import Keeping
from storage.postgres.listening import Listening
from storage.postgres.lists import question_page, thread_page
from storage.postgres.recovery import Recovery, can_recover
from storage.postgres.retention import PostgresRetention
from storage.postgres.saying import Saying
from storage.seals import Seal, sealed
from storage.texts import (
    is_storable,
    read_events,
    written,
    written_ends,
)
from storage.values import (
    Claim,
    Commit,
    CommitResult,
    Committed,
    Delivery,
    DeliveryEnd,
    FailedWish,
    InboxRecord,
    Loaded,
    Page,
    QuestionPage,
    QuestionRow,
    Snapshot,
    ThreadRow,
    Wish,
)

_log = logging.getLogger(__name__)

_LANES = 2
"""One writes while the other is being filled or waits for a lock; more make batches smaller."""
_LARGEST_BATCH = 64


class PostgresStore(Keeping):
    """What lasts, in a database of its own."""

    def __init__(self, url: str, tuning: Tuning | None = None, *, seal: Seal | None = None) -> None:
        """Name the database: `postgresql://user@host/name`.

        With a `seal` every thread carries a chain that makes changes visible.
        """
        self._seal = seal
        tuning = Tuning() if tuning is None else tuning
        self._driver = Driver(url, tuning)
        self._hints = Hints()
        self._saying = Saying(self._notify)
        self._listening = Listening(self._driver.connect, self._hints, own_voice=self._saying.voice)
        self._batcher = Batcher(self._write, self._tell, lanes=_LANES, most=_LARGEST_BATCH)
        patience_s = tuning.patience_s
        self._recovery = Recovery(self._driver, self._batcher.submit, patience_s=patience_s)

    async def open(self) -> None:
        """Connect, see that the tables are those of this code, and listen."""
        await self._driver.open()
        try:
            await self._check_schema()
            await self._driver.check_sessions()
        except BaseException:
            await self._driver.close()
            raise
        await self._listening.start()

    async def _check_schema(self) -> None:
        """Refuse tables of another version; without any, the statement itself fails as too old."""
        found = await self._again(statements.VERSION, SERVES_NAME)
        version, serves = found[0].values() if found else (None, None)
        check_version(version, serves)
        if version != HEAD:
            _log.warning("the tables are of newer code (%s), which still serves this one", version)

    async def close(self) -> None:
        """Finish what was accepted, then let go."""
        await self._batcher.close()
        await self._saying.finish()
        await self._listening.stop()
        await self._driver.close()

    # --- writing

    async def commit(self, commit: Commit) -> CommitResult:
        """Write all of it or nothing.

        If the connection is lost we find out for ourselves what became of it (`recovery`). Where
        that can't be, it may be there all the same: whoever gets StoreUnreachable reads the thread
        again, or sends the same inbox key again.
        """
        job = Job(commit, sealed(self._seal, commit, written(commit)))
        try:
            return await self._batcher.submit(job)
        except StoreError as exc:
            if not can_recover(commit, exc):
                raise
            result = await self._recovery.recover(job, exc)
            self._tell([(job, result)])  # nobody may have been told of the first try
            return result

    async def _write(self, jobs: Sequence[Job]) -> list[Outcome]:
        return await commits.write(self._driver, jobs)

    def _tell(self, written: Iterable[tuple[Job, Outcome]]) -> None:
        """Tell this process at once and the others soon, also if who committed is gone."""
        hints = [
            hint
            for job, outcome in written
            if isinstance(outcome, Committed)
            for hint in hints_of(job.commit, outcome)
        ]
        self._hints.tell(hints)
        self._saying.say(hints)

    async def _notify(self, payload: str) -> None:
        await self._again(statements.NOTIFY, payload)

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Keep the newest snapshot."""
        arguments = (thread, snapshot.seq, snapshot.body)
        if not await self._again(statements.SAVE_SNAPSHOT, *arguments):
            raise UnknownThread(f"there is no thread {thread}")

    # --- the engine

    async def claim(
        self, *, now: Millis, lease_ms: int, limit: int, leave: Collection[ThreadId] = ()
    ) -> list[Claim]:
        """Lease due threads, longest due first."""
        arguments = (now, lease_ms, limit, list(leave))
        return [rows.claim(row) for row in await self._again(statements.CLAIM, *arguments)]

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

    async def takes_part(self, thread: ThreadId, parties: Sequence[str]) -> bool:
        """Tell whether one of them has a part in it."""
        named = [one for one in parties if is_storable(one)]
        if not is_storable(thread):
            return False
        return bool(await self._driver.fetch(statements.TAKES_PART, thread, named, again=True))

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

    async def spend(self, spent: Mapping[str, int]) -> Mapping[str, int]:
        """Move buckets on; not twice, if it is unclear whether the first time counted."""
        arguments = (list(spent), list(spent.values()))
        found = await self._driver.fetch(statements.SPEND, *arguments, again=False)
        return {row["key"]: row["ahead"] for row in found}

    async def queued(self, *, now: Millis) -> int:
        """Count the threads that are due and free."""
        [row] = await self._again(statements.QUEUED, now)
        return int(row["queued"])

    # --- looking and listening

    def audit(self) -> PostgresAudit:
        """Look at the rows."""
        return PostgresAudit(self._driver)

    def retention(self) -> PostgresRetention:
        """Let go."""
        return PostgresRetention(self._driver, self._seal)

    def wakes(self) -> Listener:
        """Listen for hints."""
        return self._hints.listen()
