"""A batch of commits as the arguments of one statement, and its rows as what became of each."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.loop.journal import Overtaken
from storage.errors import (
    Fenced,
    IdTaken,
    PlaceTaken,
    StoreBusy,
    StoreError,
    ThreadKeyTaken,
    UnknownThread,
)
from storage.postgres.batching import Job, Outcome
from storage.postgres.commit_sql import COMMIT, COMMIT_EVENTS
from storage.postgres.driver import Driver, Row
from storage.postgres.failures import Clash
from storage.texts import leased_delivery
from storage.values import Commit, Committed, Duplicate, InboxRecord, Keep, NewThread

_NO_THREAD = NewThread(agent="")
_TRIES = 5
"""A clash with another process is seen by the next try; more than a few mean something else."""


class _Unseen(Exception):
    """Something stood in the way that the statement could not see yet: look again."""


async def write(driver: Driver, jobs: Sequence[Job]) -> list[Outcome]:
    """Write a batch; what spoils it for all is written one by one, so that only one suffers."""
    try:
        outcomes = await _write_together(driver, jobs)
    except StoreError:
        raise
    except Exception:  # noqa: BLE001 (whose mistake it is shows when each is alone)
        outcomes = [_Unseen()] * len(jobs)
    return [
        await _write_alone(driver, job) if isinstance(outcome, _Unseen) else outcome
        for job, outcome in zip(jobs, outcomes, strict=True)
    ]


async def _write_together(driver: Driver, jobs: Sequence[Job]) -> list[Outcome]:
    has_more = any(_has_more(job) for job in jobs)
    arguments = [*_arguments(jobs), *(_more_arguments(jobs) if has_more else ())]
    rows = await driver.fetch(COMMIT if has_more else COMMIT_EVENTS, *arguments, again=False)
    return [_outcome(job, row) for job, row in zip(jobs, rows, strict=True)]


def _has_more(job: Job) -> bool:
    texts = job.texts
    return bool(texts.places or texts.parties or texts.questions or texts.deliveries)


async def _write_alone(driver: Driver, job: Job) -> Outcome:
    before = ""
    for _ in range(_TRIES):
        try:
            [outcome] = await _write_together(driver, [job])
        except Clash as clash:
            if clash.table in {"questions", "deliveries"}:
                return IdTaken(f"one of the {clash.table} has an id that is taken")
            if clash.table == before == "places":
                return PlaceTaken(f"another thread has one of the places {job.texts.places}")
            before = clash.table
            outcome = _Unseen()  # the same message came to another process: look again
        except Exception as exc:  # noqa: BLE001 (the others of its batch go on)
            return exc
        if not isinstance(outcome, _Unseen):
            return outcome
    return StoreBusy(f"thread {job.commit.thread} is being written by others")


def _committed(job: Job, row: Row) -> Committed:
    seq, ids = row["done"], row["leased"]
    if not ids:
        return Committed(seq, row["epoch"])
    new = [each for each in job.texts.deliveries if each.id in ids]
    leased = tuple(leased_delivery(job.commit, each, seq) for each in new)
    return Committed(seq, row["epoch"], leased)


def _outcome(job: Job, row: Row) -> Outcome:
    commit = job.commit
    if row["done"] is not None:
        return _committed(job, row)
    if row["first_thread"] is not None:
        first = InboxRecord(row["first_thread"], row["first_seq"], row["first_digest"])
        return Duplicate(first)
    if commit.create is not None:
        return _why_not_new(commit, commit.create, row)
    return _why_not(commit, row)


def _why_not_new(commit: Commit, new: NewThread, row: Row) -> Exception:
    if row["seq"] is not None:
        return Overtaken()
    if row["key_is_taken"]:
        return ThreadKeyTaken(f"agent {new.agent} has a thread of key {new.thread_key!r}")
    if commit.seen:
        return Overtaken()
    return _Unseen() if commit.epoch is None else _fenced(commit)


def _why_not(commit: Commit, row: Row) -> Exception:
    if row["seq"] is None:
        return UnknownThread(f"there is no thread {commit.thread}")
    if commit.seen is not None and commit.seen != row["seq"]:
        return Overtaken()
    return _Unseen() if commit.epoch is None or row["is_held"] else _fenced(commit)


def _fenced(commit: Commit) -> Fenced:
    return Fenced(f"the lease of epoch {commit.epoch} on thread {commit.thread} is gone")


def _arguments(jobs: Sequence[Job]) -> list[object]:
    """Turn the rows of each table into its columns, one array each, in the statement's order."""
    threads = [_thread(job) for job in jobs]
    events = [
        (job.commit.thread, number - len(job.texts.events), text)
        for job in jobs
        for number, text in enumerate(job.texts.events, start=1)
    ]
    return [*_columns(threads, 22), *_columns(events, 3)]


def _more_arguments(jobs: Sequence[Job]) -> list[object]:
    questions = [
        (job.commit.thread, *row)
        for job in jobs
        for row in {row.id: row for row in job.texts.questions}.values()
    ]
    deliveries = [
        (job.commit.thread, row.id, row.address, row.body, row.due_at, row.question)
        for job in jobs
        for row in job.texts.deliveries
    ]
    places = [(job.commit.thread, place) for job in jobs for place in job.texts.places]
    parties = [(job.commit.thread, party) for job in jobs for party in job.texts.parties]
    asked = _columns(questions, 8)
    return [
        *asked[:6],
        *_columns(deliveries, 6),
        *_columns(places, 2),
        *asked[6:],
        *_columns(parties, 2),
    ]


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Sequence[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _thread(job: Job) -> tuple[object, ...]:
    commit = job.commit
    new = commit.create or _NO_THREAD
    inbox = commit.inbox
    keeps_wake = isinstance(commit.wake_at, Keep)
    return (
        commit.thread,
        len(job.texts.events),
        commit.seen,
        commit.epoch,
        commit.status,
        job.texts.summary,
        keeps_wake,
        None if keeps_wake else commit.wake_at,
        commit.now,
        commit.create is not None,
        new.agent,
        new.origin,
        new.requester,
        new.thread_key,
        inbox and inbox.source,
        inbox and inbox.key,
        inbox and inbox.digest,
        inbox and inbox.expires_at,
        commit.lease_ms,
        commit.release,
        commit.send_lease_ms,
        job.texts.growth,
    )
