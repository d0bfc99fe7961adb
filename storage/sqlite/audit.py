"""What an audit reads of the file; bodies as bytes, because one that was changed may be no text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from agent_core.thread.events import Millis, ThreadId
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.sqlite.access import Access
from storage.texts import is_storable

_HEADS = "SELECT id, seq, updated_at, chain FROM threads WHERE id > ? ORDER BY id LIMIT ?"
_HEAD = "SELECT id, seq, updated_at, chain FROM threads WHERE id = ?"
_EVENTS = "SELECT seq, CAST(body AS BLOB) FROM events WHERE thread = ? ORDER BY seq"
_DELIVERIES = """
SELECT seq, id, address, question, CAST(body AS BLOB), status FROM deliveries
WHERE thread = ? ORDER BY seq, n
"""
_STRAYS = """
SELECT thread FROM events WHERE thread NOT IN (SELECT id FROM threads)
UNION SELECT thread FROM deliveries WHERE thread NOT IN (SELECT id FROM threads)
LIMIT ?
"""
_BEGIN = """
UPDATE threads SET chain = ? WHERE id = ? AND seq = ? AND updated_at = ? AND chain IS ?
"""


class SqliteAudit:
    """The rows of a file, as they stand."""

    def __init__(self, access: Access) -> None:
        """Read over these ways to the file."""
        self._db = access

    async def logs(self, *, after: str = "", limit: int = 20) -> list[SealedLog]:
        """Give whole threads, in the order of their ids."""
        return await self._db.read(lambda db: _logs(db, after, limit))

    async def log(self, thread: ThreadId) -> SealedLog | None:
        """Give one thread."""
        if not is_storable(thread):
            return None
        return await self._db.read(lambda db: _one(db, thread))

    async def strays(self, *, limit: int = 10) -> list[str]:
        """Name threads without a row."""
        return await self._db.read(
            lambda db: [name for (name,) in db.execute(_STRAYS, (limit,)).fetchall()]
        )

    async def begin(self, log: SealedLog, chain: bytes) -> bool:
        """Give a thread its chain, if it is as it was read."""
        values = (chain, log.thread, log.seq, log.updated_at, log.chain)
        return await self._db.write(lambda db: db.execute(_BEGIN, values).rowcount > 0)


def _logs(connection: sqlite3.Connection, after: str, limit: int) -> list[SealedLog]:
    with _one_moment(connection):
        heads = connection.execute(_HEADS, (after, limit)).fetchall()
        return [_log(connection, head) for head in heads]


def _one(connection: sqlite3.Connection, thread: ThreadId) -> SealedLog | None:
    with _one_moment(connection):
        head = connection.execute(_HEAD, (thread,)).fetchone()
        return None if head is None else _log(connection, head)


def _log(connection: sqlite3.Connection, head: tuple[str, int, int, bytes | None]) -> SealedLog:
    thread, seq, updated_at, chain = head
    return SealedLog(
        thread=ThreadId(thread),
        seq=seq,
        updated_at=Millis(updated_at),
        chain=chain,
        events=[KeptEvent(*row) for row in connection.execute(_EVENTS, (thread,))],
        deliveries=[KeptDelivery(*row) for row in connection.execute(_DELIVERIES, (thread,))],
    )


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Read everything as of the first statement, whatever is written meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
