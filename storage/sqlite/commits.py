"""One write, as statements within a transaction that the writer has begun.

The usual way is short: one UPDATE that holds the commit's conditions, and the inserts. Only when it
finds no row is the reason looked up.
"""

from __future__ import annotations

import sqlite3

from agent_core.loop.journal import Overtaken
from storage.errors import Fenced, IdTaken, StoreError, ThreadKeyTaken, UnknownThread
from storage.texts import Written
from storage.values import (
    Commit,
    CommitResult,
    Committed,
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
    epoch, summary, created_at, updated_at
) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, NULL, 0, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_MOVE = """
UPDATE threads SET
    seq = seq + :size, status = coalesce(:status, status), summary = coalesce(:summary, summary),
    updated_at = :now
WHERE id = :thread AND (:seen IS NULL OR seq = :seen)
  AND (:epoch IS NULL OR (epoch = :epoch AND lease_until IS NOT NULL))
RETURNING seq
"""
# A column that is named is written to its index, also when its value stays: two statements.
_MOVE_AND_WAKE = _MOVE.replace("updated_at", "wake_at = :wake_at, updated_at", 1)
_EVENT = "INSERT INTO events (thread, seq, body) VALUES (?, ?, ?)"
_QUESTION = """
INSERT INTO questions (id, thread, status, asked_at, expires_at, body) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    status = excluded.status, asked_at = excluded.asked_at, expires_at = excluded.expires_at,
    body = excluded.body
WHERE thread = excluded.thread
"""
_DELIVERY = """
INSERT INTO deliveries (
    id, thread, seq, address, body, question, status, due_at, epoch, attempts, error
) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, 0, 0, '')
ON CONFLICT (id) DO NOTHING
"""
_INBOX = """
INSERT OR REPLACE INTO inbox (source, key, digest, thread, seq, expires_at)
VALUES (?, ?, ?, ?, ?, ?)
"""


def write(connection: sqlite3.Connection, commit: Commit, texts: Written) -> CommitResult:
    """Write all of it; what raises leaves it to the writer to take everything back."""
    if commit.inbox is not None:
        first = _first_copy(connection, commit.inbox, commit)
        if first is not None:
            return Duplicate(first)
    if commit.create is not None:
        seq = _begin(connection, commit, commit.create, texts)
    else:
        seq = _move(connection, commit, texts)
    start = seq - len(texts.events) + 1
    rows = [(commit.thread, number, text) for number, text in enumerate(texts.events, start)]
    connection.executemany(_EVENT, rows)
    _write_questions(connection, commit, texts)
    _write_deliveries(connection, commit, texts, seq)
    if commit.inbox is not None:
        key = commit.inbox
        record = (key.source, key.key, key.digest, commit.thread, seq, key.expires_at)
        connection.execute(_INBOX, record)
    return Committed(seq)


def _first_copy(
    connection: sqlite3.Connection, key: InboxKey, commit: Commit
) -> InboxRecord | None:
    row = connection.execute(_FIRST_COPY, (key.source, key.key, commit.now)).fetchone()
    return None if row is None else InboxRecord(*row)


def _begin(connection: sqlite3.Connection, commit: Commit, new: NewThread, texts: Written) -> int:
    seq = len(texts.events)
    row = (
        commit.thread,
        new.agent,
        commit.status or "running",
        new.origin,
        new.requester,
        new.thread_key,
        seq,
        None if isinstance(commit.wake_at, Keep) else commit.wake_at,
        texts.summary or "{}",
        commit.now,
        commit.now,
    )
    if connection.execute(_BEGIN, row).rowcount == 0:
        if connection.execute("SELECT 1 FROM threads WHERE id = ?", row[:1]).fetchone():
            raise Overtaken
        raise ThreadKeyTaken(f"agent {new.agent} has a thread of key {new.thread_key!r}")
    if commit.seen:
        raise Overtaken
    if commit.epoch is not None:
        raise _fenced(commit)
    return seq


def _move(connection: sqlite3.Connection, commit: Commit, texts: Written) -> int:
    values: dict[str, str | int | None] = {
        "thread": commit.thread,
        "size": len(texts.events),
        "status": commit.status,
        "summary": texts.summary,
        "now": commit.now,
        "seen": commit.seen,
        "epoch": commit.epoch,
    }
    if isinstance(commit.wake_at, Keep):
        row = connection.execute(_MOVE, values).fetchone()
    else:
        row = connection.execute(_MOVE_AND_WAKE, values | {"wake_at": commit.wake_at}).fetchone()
    if row is None:
        raise _reason(connection, commit)
    return int(row[0])


def _reason(connection: sqlite3.Connection, commit: Commit) -> StoreError | Overtaken:
    row = connection.execute("SELECT seq FROM threads WHERE id = ?", (commit.thread,)).fetchone()
    if row is None:
        return UnknownThread(f"there is no thread {commit.thread}")
    if commit.seen is not None and commit.seen != row[0]:
        return Overtaken()
    return _fenced(commit)


def _fenced(commit: Commit) -> Fenced:
    return Fenced(f"the lease of epoch {commit.epoch} on thread {commit.thread} is gone")


def _write_questions(connection: sqlite3.Connection, commit: Commit, texts: Written) -> None:
    for row in texts.questions:
        values = (row.id, commit.thread, row.status, row.asked_at, row.expires_at, row.body)
        if connection.execute(_QUESTION, values).rowcount == 0:
            raise IdTaken(f"question {row.id} was asked in another thread")


def _write_deliveries(
    connection: sqlite3.Connection, commit: Commit, texts: Written, seq: int
) -> None:
    for row in texts.deliveries:
        values = (row.id, commit.thread, seq, row.address, row.body, row.question, row.due_at)
        if connection.execute(_DELIVERY, values).rowcount == 0:
            raise IdTaken(f"there is a delivery {row.id} already")
