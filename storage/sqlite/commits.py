"""One write, as statements within a transaction that the writer has begun.

The usual way is short: one UPDATE that holds the commit's conditions, and the inserts. Only when it
finds no row is the reason looked up. What is refused often, such as a commit that was overtaken, is
refused before anything has changed: then the writer has nothing to take back.
"""

from __future__ import annotations

import sqlite3

from agent_core.loop.journal import Overtaken
from storage.errors import Fenced, IdTaken, StoreError, ThreadKeyTaken, UnknownThread
from storage.sqlite import parties, places
from storage.sqlite.moves import move, move_and_lease
from storage.texts import Written, WrittenDelivery, leased_delivery
from storage.values import (
    Commit,
    CommitResult,
    Committed,
    Delivery,
    Duplicate,
    InboxKey,
    InboxRecord,
    Keep,
    NewThread,
)

_FIRST_COPY = """
SELECT thread, seq, digest FROM inbox
WHERE source = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)
"""
_BEGIN = """
INSERT INTO threads (
    id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at, lease_until,
    epoch, summary, created_at, updated_at, chain
) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_EVENT = "INSERT INTO events (thread, seq, body) VALUES (?, ?, ?)"
_QUESTION = """
INSERT INTO questions (id, thread, status, asked_at, expires_at, body, rank, asked)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, asked_at = excluded.asked_at, expires_at = excluded.expires_at,
    body = excluded.body, rank = excluded.rank, asked = excluded.asked
WHERE thread = excluded.thread
"""
_DELIVERY = """
INSERT INTO deliveries (
    id, thread, seq, address, body, question, status, due_at, lease_until, epoch, attempts, error
) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, '')
ON CONFLICT (thread, id) DO NOTHING
"""
_EARLIER = """
SELECT 1 FROM deliveries WHERE status = 'pending' AND thread = ? AND address = ? LIMIT 1
"""
_INBOX = """
INSERT OR REPLACE INTO inbox (source, key, digest, thread, seq, expires_at)
VALUES (?, ?, ?, ?, ?, ?)
"""


def write(connection: sqlite3.Connection, commit: Commit, texts: Written) -> CommitResult:
    """Write all of it; what raises leaves it to the writer to take everything back."""
    if commit.inbox is not None:
        copy = _first_copy(connection, commit.inbox, commit)
        if copy is not None:
            return Duplicate(copy)
    if commit.create is not None:
        seq, epoch = _begin(connection, commit, commit.create, texts)
    else:
        seq, epoch = _move(connection, commit, texts)
    first = seq - len(texts.events) + 1
    rows = [(commit.thread, number, text) for number, text in enumerate(texts.events, first)]
    connection.executemany(_EVENT, rows)
    if texts.places:
        places.bind(connection, commit, texts)
    if texts.parties:
        parties.add(connection, commit, texts)
    if texts.questions:
        _write_questions(connection, commit, texts)
    leased = _write_deliveries(connection, commit, texts, seq) if texts.deliveries else ()
    if commit.inbox is not None:
        key = commit.inbox
        record = (key.source, key.key, key.digest, commit.thread, seq, key.expires_at)
        connection.execute(_INBOX, record)
    return Committed(seq, epoch, leased)


def _first_copy(
    connection: sqlite3.Connection, key: InboxKey, commit: Commit
) -> InboxRecord | None:
    row = connection.execute(_FIRST_COPY, (key.source, key.key, commit.now)).fetchone()
    return None if row is None else InboxRecord(*row)


def _begin(
    connection: sqlite3.Connection, commit: Commit, new: NewThread, texts: Written
) -> tuple[int, int | None]:
    seq = len(texts.events)
    until = None if commit.lease_ms is None else commit.now + commit.lease_ms
    row = (
        commit.thread,
        new.agent,
        commit.status or "running",
        new.origin,
        new.requester,
        new.thread_key,
        seq,
        None if isinstance(commit.wake_at, Keep) else commit.wake_at,
        until,
        0 if until is None else 1,
        texts.summary or "{}",
        commit.now,
        commit.now,
        texts.growth,
    )
    if connection.execute(_BEGIN, row).rowcount == 0:
        if _last_event(connection, commit) is not None:
            raise Overtaken
        raise ThreadKeyTaken(f"agent {new.agent} has a thread of key {new.thread_key!r}")
    if commit.seen:
        raise Overtaken
    if commit.epoch is not None:
        raise _fenced(commit)
    return seq, None if until is None else 1


def _move(connection: sqlite3.Connection, commit: Commit, texts: Written) -> tuple[int, int | None]:
    if commit.lease_ms is not None:
        leased = move_and_lease(connection, commit, texts, commit.lease_ms)
        if leased is not None:
            return leased
    seq = move(connection, commit, texts)
    if seq is None:
        raise _reason(connection, commit)
    return seq, None


def _reason(connection: sqlite3.Connection, commit: Commit) -> StoreError | Overtaken:
    last = _last_event(connection, commit)
    if last is None:
        return UnknownThread(f"there is no thread {commit.thread}")
    if commit.seen is not None and commit.seen != last:
        return Overtaken()
    return _fenced(commit)


def _last_event(connection: sqlite3.Connection, commit: Commit) -> int | None:
    row = connection.execute("SELECT seq FROM threads WHERE id = ?", (commit.thread,)).fetchone()
    return None if row is None else int(row[0])


def _fenced(commit: Commit) -> Fenced:
    return Fenced(f"the lease of epoch {commit.epoch} on thread {commit.thread} is gone")


def _write_questions(connection: sqlite3.Connection, commit: Commit, texts: Written) -> None:
    for row in texts.questions:
        values = (row.id, commit.thread, *row[1:])
        if connection.execute(_QUESTION, values).rowcount == 0:
            raise IdTaken(f"question {row.id} was asked in another thread")


def _write_deliveries(
    connection: sqlite3.Connection, commit: Commit, texts: Written, seq: int
) -> tuple[Delivery, ...]:
    leased = []
    for row in texts.deliveries:
        lease: tuple[int | None, int, int] = (None, 0, 0)
        if _may_send(connection, commit, row):
            new = leased_delivery(commit, row, seq)
            lease = (new.lease_until, new.epoch, new.attempts)
            leased.append(new)
        values = (row.id, commit.thread, seq, row.address, row.body, row.question, row.due_at)
        if connection.execute(_DELIVERY, values + lease).rowcount == 0:
            raise IdTaken(f"there is a delivery {row.id} already")
    return tuple(leased)


def _may_send(connection: sqlite3.Connection, commit: Commit, row: WrittenDelivery) -> bool:
    if commit.send_lease_ms is None or row.due_at > commit.now:
        return False
    return connection.execute(_EARLIER, (commit.thread, row.address)).fetchone() is None
