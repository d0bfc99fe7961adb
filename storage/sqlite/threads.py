"""Reading threads and their logs. One statement each, so that what it gives is of one moment."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_core.thread.events import Event, ThreadId
from storage.texts import read_events, read_object
from storage.values import Loaded, Snapshot, ThreadRow

_FEW = 64
"""So many events are read as fast as a thread would be woken up for them."""

COLUMNS = """
t.id, t.agent, t.status, t.origin, t.requester, t.thread_key, t.seq, t.handled_seq, t.wake_at,
t.lease_until, t.epoch, t.summary, t.created_at, t.updated_at
"""
# SQLite puts the log together: a row for each event would take and give the interpreter's lock
# once for each. An ORDER BY below group_concat is kept (sqlite.org/lang_select.html).
_LOAD = f"""
SELECT {COLUMNS}, s.seq, s.body, (
    SELECT group_concat(body, ',') FROM (
        SELECT body FROM events WHERE thread = t.id AND seq > coalesce(s.seq, 0) ORDER BY seq
    )
)
FROM threads AS t LEFT JOIN snapshots AS s ON s.thread = t.id
WHERE t.id = :thread
"""
_LOAD_AFTER = f"""
SELECT {COLUMNS}, NULL, NULL, (
    SELECT group_concat(body, ',') FROM (
        SELECT body FROM events WHERE thread = t.id AND seq > :after ORDER BY seq
    )
)
FROM threads AS t WHERE t.id = :thread
"""
_EVENTS = """
SELECT group_concat(body, ',') FROM (
    SELECT body FROM events WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?
)
"""
_ROW = f"SELECT {COLUMNS} FROM threads AS t WHERE id = ?"
_BY_KEY = f"""
SELECT {COLUMNS} FROM threads AS t WHERE agent = ? AND thread_key = ? AND thread_key <> ''
"""  # The index knows only threads that have a key, and has to be told that this is one.
_AFTER = """
SELECT seq - ? FROM threads AS t
WHERE id = ? AND (? OR NOT EXISTS (SELECT 1 FROM snapshots WHERE thread = t.id))
"""
_SAVE = """
INSERT INTO snapshots (thread, seq, body) VALUES (?, ?, ?)
ON CONFLICT (thread) DO UPDATE SET seq = excluded.seq, body = excluded.body
WHERE excluded.seq > seq
"""


def load(connection: sqlite3.Connection, thread: ThreadId, after: int | None) -> Loaded | None:
    """Give a thread, from its newest snapshot or after an event."""
    statement = _LOAD if after is None else _LOAD_AFTER
    row = connection.execute(statement, {"thread": thread, "after": after}).fetchone()
    if row is None:
        return None
    *columns, seq, body, texts = row
    snapshot = None if seq is None else Snapshot(seq, body)
    return Loaded(thread_row(columns), snapshot, read_events(texts or "", thread))


def events(connection: sqlite3.Connection, thread: ThreadId, after: int, limit: int) -> list[Event]:
    """Give a piece of a log."""
    [texts] = connection.execute(_EVENTS, (thread, after, limit)).fetchone()
    return read_events(texts or "", thread)


def is_short(connection: sqlite3.Connection, thread: ThreadId, after: int | None) -> bool:
    """Tell whether a load would read little: few events, and no snapshot."""
    row = connection.execute(_AFTER, (after or 0, thread, after is not None)).fetchone()
    return row is not None and row[0] <= _FEW


def by_id(connection: sqlite3.Connection, thread: ThreadId) -> ThreadRow | None:
    """Give a thread's row."""
    row = connection.execute(_ROW, (thread,)).fetchone()
    return None if row is None else thread_row(row)


def by_key(connection: sqlite3.Connection, agent: str, key: str) -> ThreadRow | None:
    """Find a thread by its key."""
    row = connection.execute(_BY_KEY, (agent, key)).fetchone()
    return None if row is None else thread_row(row)


def save_snapshot(connection: sqlite3.Connection, thread: ThreadId, snapshot: Snapshot) -> bool:
    """Keep the newest snapshot; False if there is no such thread."""
    if not connection.execute("SELECT 1 FROM threads WHERE id = ?", (thread,)).fetchone():
        return False
    connection.execute(_SAVE, (thread, snapshot.seq, snapshot.body))
    return True


def thread_row(row: Any) -> ThreadRow:  # noqa: ANN401 (a row of the database, in our own order)
    """Make a row of what COLUMNS gave."""
    return ThreadRow(
        id=row[0],
        agent=row[1],
        status=row[2],
        origin=row[3],
        requester=row[4],
        thread_key=row[5],
        seq=row[6],
        handled_seq=row[7],
        wake_at=row[8],
        lease_until=row[9],
        epoch=row[10],
        summary=read_object(row[11]),
        created_at=row[12],
        updated_at=row[13],
    )
