"""The floor: the rows of one cycle by hand, raw `sqlite3` in one writer thread, group commit.

The same tables and rows as ours (`floor_rows`).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from bench.gateway.floor_rows import NOW, Rows, transactions
from bench.gateway.stopwatch import main

_SCHEMA = Path(__file__).parents[2] / "storage" / "schema_sqlite.sql"
_EVENT = "INSERT INTO events (thread, seq, body) VALUES (?, ?, ?)"
_MOVE = (
    "UPDATE threads SET seq = ?, status = ?, summary = ?, wake_at = ?, updated_at = ? WHERE id = ?"
)
_BEGIN = """
INSERT INTO threads (id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at,
                     lease_until, epoch, summary, created_at, updated_at, chain)
VALUES (?, 'desk', 'running', ?, 'ann', '', 2, 0, ?, NULL, 1, ?, ?, ?, zeroblob(32))
"""
_QUESTION = """
INSERT OR REPLACE INTO questions (id, thread, status, asked_at, body) VALUES (?, ?, ?, ?, ?)
"""
_SAY = """
INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts, error)
VALUES (?, ?, ?, ?, ?, 'pending', ?, 0, 0, '')
"""
_SAID = "UPDATE deliveries SET status = 'sent', due_at = NULL, receipt = '{}' WHERE id = ?"

_Order: TypeAlias = tuple[Rows, "asyncio.Future[None]"]


class Floor:
    """A writer thread and its queue."""

    version = sqlite3.sqlite_version

    def __init__(self, database: Path) -> None:
        self.database = database
        self._queue: SimpleQueue[_Order | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write_for_ever)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._queue.put(None)
        self._thread.join()

    async def cycle(self, number: int) -> None:
        """Write what a cycle writes, each transaction when the one before is durable."""
        for rows in transactions(f"th_{number:020}"):
            future: asyncio.Future[None] = self._loop.create_future()
            self._queue.put((rows, future))
            await future

    def _write_for_ever(self) -> None:
        connection = _connect(self.database)
        while batch := self._take():
            connection.execute("BEGIN IMMEDIATE")
            for rows, _ in batch:
                for statement, values in _statements(rows):
                    connection.execute(statement, values)
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_settle, batch)
        connection.close()

    def _take(self) -> list[_Order]:
        order = self._queue.get()
        batch = []
        try:
            while order is not None:
                batch.append(order)
                order = self._queue.get_nowait()
        except Empty:
            pass
        return batch


def _settle(batch: Sequence[_Order]) -> None:
    for _, future in batch:
        future.set_result(None)


def _connect(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _statements(rows: Rows) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if rows.begun:
        thread, address, summary = rows.begun
        yield _BEGIN, (thread, address, NOW, summary, NOW, NOW)
    if rows.moved:
        thread, seq, status, summary = rows.moved
        yield _MOVE, (seq, status, summary, None, NOW, thread)
    for event in rows.events:
        yield _EVENT, event
    if rows.question:
        key, thread, status, body = rows.question
        yield _QUESTION, (key, thread, status, NOW, body)
    if rows.said:
        yield _SAY, (*rows.said, NOW)
    if rows.sent:
        yield _SAID, (rows.sent,)


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[Floor]:  # noqa: ARG001 (one way only)
    """Make the tables in a new file."""
    database = folder / "floor.db"
    connection = _connect(database)
    connection.executescript(_SCHEMA.read_text(encoding="utf-8"))
    connection.close()
    floor = Floor(database)
    try:
        yield floor
    finally:
        floor.close()


if __name__ == "__main__":
    main(opened)
