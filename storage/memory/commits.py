"""One write to the twin: everything is checked before anything changes."""

from __future__ import annotations

from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import Millis
from storage.errors import Fenced, IdTaken, PlaceTaken, ThreadKeyTaken, UnknownThread
from storage.memory.tables import MemoryTables, is_free, own_delivery
from storage.seals import moved
from storage.texts import Written, leased_delivery, read_asked, read_object
from storage.values import (
    Commit,
    CommitResult,
    Committed,
    Delivery,
    Duplicate,
    InboxRecord,
    Keep,
    QuestionRow,
    ThreadRow,
)


def write(tables: MemoryTables, commit: Commit, texts: Written) -> CommitResult:
    """Write all of it or nothing."""
    first = _first_copy(tables, commit)
    if first is not None:
        return Duplicate(first)
    before = _checked(tables, commit)
    _check_places(tables, commit, texts)
    _check_ids(tables, commit)
    row = _row_after(before, commit, texts)
    tables.threads[commit.thread] = row
    tables.events.setdefault(commit.thread, []).extend(texts.events)
    _move_chain(tables, commit, texts)
    for place in texts.places:
        tables.places.setdefault(place, (commit.thread, commit.now))
    tables.parties.setdefault(commit.thread, set()).update(texts.parties)
    _write_questions(tables, commit, texts)
    leased = _write_deliveries(tables, commit, row, texts)
    if commit.inbox is not None:
        record = InboxRecord(commit.thread, row.seq, commit.inbox.digest)
        name = (commit.inbox.source, commit.inbox.key)
        tables.inbox[name] = (record, commit.inbox.expires_at)
    return Committed(row.seq, row.epoch if row.epoch > before.epoch else None, leased)


def _first_copy(tables: MemoryTables, commit: Commit) -> InboxRecord | None:
    if commit.inbox is None:
        return None
    record, expires_at = tables.inbox.get((commit.inbox.source, commit.inbox.key), (None, None))
    if expires_at is not None and expires_at <= commit.now:
        return None
    return record


def _checked(tables: MemoryTables, commit: Commit) -> ThreadRow:
    """Give the row as it is before the commit, if the commit's conditions hold."""
    row = tables.threads.get(commit.thread)
    if row is None:
        row = _new_row(tables, commit)
    elif commit.create is not None:
        raise Overtaken
    if commit.seen is not None and commit.seen != row.seq:
        raise Overtaken
    if commit.epoch is not None and (commit.epoch != row.epoch or row.lease_until is None):
        raise Fenced(f"the lease of epoch {commit.epoch} on thread {commit.thread} is gone")
    return row


def _new_row(tables: MemoryTables, commit: Commit) -> ThreadRow:
    new = commit.create
    if new is None:
        raise UnknownThread(f"there is no thread {commit.thread}")
    if new.thread_key and any(
        (new.agent, new.thread_key) == (row.agent, row.thread_key)
        for row in tables.threads.values()
    ):
        raise ThreadKeyTaken(f"agent {new.agent} has a thread of key {new.thread_key!r}")
    return ThreadRow(
        id=commit.thread,
        agent=new.agent,
        status="running",
        origin=new.origin,
        requester=new.requester,
        thread_key=new.thread_key,
        seq=0,
        handled_seq=0,
        wake_at=None,
        lease_until=None,
        epoch=0,
        summary={},
        created_at=commit.now,
        updated_at=commit.now,
    )


def _check_places(tables: MemoryTables, commit: Commit, texts: Written) -> None:
    for place in texts.places:
        thread, _ = tables.places.get(place, (commit.thread, None))
        if thread != commit.thread:
            raise PlaceTaken(f"another thread has the place {place!r}")


def _check_ids(tables: MemoryTables, commit: Commit) -> None:
    for question in commit.questions:
        there = tables.questions.get(question.id)
        if there is not None and there.thread != commit.thread:
            raise IdTaken(f"question {question.id} was asked in another thread")
    ids = [delivery.id for delivery in commit.deliveries]
    for delivery in ids:
        if (commit.thread, delivery) in tables.deliveries or ids.count(delivery) > 1:
            raise IdTaken(f"there is a delivery {delivery} already")


def _row_after(row: ThreadRow, commit: Commit, texts: Written) -> ThreadRow:
    wake_at = row.wake_at if isinstance(commit.wake_at, Keep) else commit.wake_at
    seq = row.seq + len(texts.events)
    if commit.release:
        row = replace(row, lease_until=None, handled_seq=seq)
    elif commit.lease_ms is not None and is_free(row.lease_until, commit.now):
        until = Millis(commit.now + commit.lease_ms)
        row = replace(row, lease_until=until, epoch=row.epoch + 1)
    return replace(
        row,
        seq=seq,
        status=commit.status or row.status,
        summary=row.summary if texts.summary is None else read_object(texts.summary),
        wake_at=wake_at,
        updated_at=commit.now,
    )


def _move_chain(tables: MemoryTables, commit: Commit, texts: Written) -> None:
    if commit.create is not None and texts.growth is not None:
        tables.chains[commit.thread] = texts.growth
    elif texts.growth and commit.thread in tables.chains:
        tables.chains[commit.thread] = moved(tables.chains[commit.thread], texts.growth)


def _write_questions(tables: MemoryTables, commit: Commit, texts: Written) -> None:
    for question in texts.questions:
        tables.questions[question.id] = QuestionRow(
            id=question.id,
            thread=commit.thread,
            status=question.status,
            asked_at=question.asked_at,
            expires_at=question.expires_at,
            body=read_object(question.body),
            rank=question.rank,
            asked=read_asked(question.asked),
        )


def _write_deliveries(
    tables: MemoryTables, commit: Commit, row: ThreadRow, texts: Written
) -> tuple[Delivery, ...]:
    leased = []
    for delivery in texts.deliveries:
        new = leased_delivery(commit, delivery, row.seq)
        if _may_send(tables, commit, new):
            leased.append(own_delivery(new))
        else:
            new = replace(new, lease_until=None, epoch=0, attempts=0)
        tables.deliveries[new.thread, new.id] = new
    return tuple(leased)


def _may_send(tables: MemoryTables, commit: Commit, new: Delivery) -> bool:
    if commit.send_lease_ms is None or (new.due_at or 0) > commit.now:
        return False
    return not any(
        row.status == "pending" and (row.thread, row.address) == (new.thread, new.address)
        for row in tables.deliveries.values()
    )
