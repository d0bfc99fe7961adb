"""Where peers without a store of their own keep their state: one row of JSON a thread, in SQLite.

The fastest that we know: one writer thread, which commits together what has queued up, `FULL`. A
row lasts when `keep` returns. It runs in the peers' environments: standard library only.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeAlias

_TABLE = "CREATE TABLE states (thread TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID"
_KEEP = "INSERT INTO states VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body"
_READ = "SELECT body FROM states WHERE thread = ?"

_Order: TypeAlias = tuple[str, bytes, "asyncio.Future[None]"]


class Shelf:
    """Rows that last."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self._queue: SimpleQueue[_Order | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._connect().execute(_TABLE)
        self._reader = self._connect()
        self._writer = threading.Thread(target=self._write_until_told, daemon=True)
        self._writer.start()

    async def keep(self, thread: str, body: bytes) -> None:
        """Write a state; it lasts when this returns."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((thread, body, future))
        await future

    def read(self, thread: str) -> bytes:
        """Read a state, as a process that knows nothing would."""
        [body] = self._reader.execute(_READ, (thread,)).fetchone()
        return bytes(body)

    def close(self) -> None:
        """Stop writing."""
        self._queue.put(None)
        self._writer.join()
        self._reader.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.database, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    def _write_until_told(self) -> None:
        connection = self._connect()
        while batch := list(self._taken()):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_KEEP, [(thread, body) for thread, body, _ in batch])
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_settle, batch)
        connection.close()

    def _taken(self) -> Iterator[_Order]:
        order = self._queue.get()
        try:
            while order is not None:
                yield order
                order = self._queue.get_nowait()
        except Empty:
            return


def _settle(batch: Sequence[_Order]) -> None:
    for _, _, future in batch:
        future.set_result(None)


@contextmanager
def shelf(database: Path) -> Iterator[Shelf]:
    """Open a shelf on a new file."""
    opened = Shelf(database)
    try:
        yield opened
    finally:
        opened.close()
