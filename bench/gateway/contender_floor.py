"""The floor: the rows of one cycle by hand, raw `sqlite3` in one writer thread, group commit.

The same tables and rows as ours, and as many transactions as a crash at any moment asks for: the
launch, the reply with its question, the answer, the tool's start, the tool's end, the last reply
with the end. What is sent rides along with the next of them. Nothing is parsed, decided or read.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST, main

_SCHEMA = Path(__file__).parents[2] / "storage" / "schema_sqlite.sql"
_EVENT = "INSERT INTO events (thread, seq, body) VALUES (?, ?, ?)"
_MOVE = (
    "UPDATE threads SET seq = ?, status = ?, summary = ?, wake_at = ?, updated_at = ? WHERE id = ?"
)
_BEGIN = """
INSERT INTO threads
VALUES (?, 'desk', 'running', ?, 'ann', '', 2, 0, ?, NULL, 1, ?, ?, ?, zeroblob(32))
"""
_QUESTION = "INSERT OR REPLACE INTO questions VALUES (?, ?, ?, ?, NULL, ?)"
_SAY = """
INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts, error)
VALUES (?, ?, ?, ?, ?, 'pending', ?, 0, 0, '')
"""
_SAID = "UPDATE deliveries SET status = 'sent', due_at = NULL, receipt = '{}' WHERE id = ?"
_NOW = 1_700_000_000_000

_Statements: TypeAlias = Sequence[tuple[str, tuple[Any, ...]]]
_Order: TypeAlias = tuple[_Statements, "asyncio.Future[None]"]


def _event(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, "at": _NOW, **fields}, separators=(",", ":"))


_SUMMARY = json.dumps({"result": None, "error": None, "usage": {}, "metadata": {}, "questions": []})
_ASKED = json.dumps({"prompt": REPLY, "arguments": QUESTION, "status": "open", "answer": None})
_FULL = json.dumps({"result": DONE, "error": None, "usage": {}, "metadata": {}, "questions": []})


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
        for statements in _transactions(f"th_{number:020}"):
            future: asyncio.Future[None] = self._loop.create_future()
            self._queue.put((statements, future))
            await future

    def _write_for_ever(self) -> None:
        connection = _connect(self.database)
        while batch := self._take():
            connection.execute("BEGIN IMMEDIATE")
            for statements, _ in batch:
                for statement, values in statements:
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


def _transactions(thread: str) -> list[_Statements]:
    address, question = f"web:{thread}", f"q_{thread}"

    def move(seq: int, status: str, summary: str) -> tuple[str, tuple[Any, ...]]:
        return _MOVE, (seq, status, summary, None, _NOW, thread)

    def event(seq: int, kind: str, **fields: object) -> tuple[str, tuple[Any, ...]]:
        return _EVENT, (thread, seq, _event(kind, **fields))

    def say(seq: int, kind: str) -> tuple[str, tuple[Any, ...]]:
        body = json.dumps({"kind": kind, "question": question})
        return _SAY, (f"{thread}.{seq}", thread, seq, address, body, _NOW)

    return [
        [
            (_BEGIN, (thread, address, _NOW, _SUMMARY, _NOW, _NOW)),
            event(1, "thread.launched", thread=thread, agent="desk", origin=address),
            event(2, "message.received", text=REQUEST, sender="ann"),
        ],
        [
            move(4, "waiting", _SUMMARY + _ASKED),
            event(3, "model.replied", text=REPLY, calls=[QUESTION]),
            event(4, "question.asked", question={"id": question, **QUESTION}),
            (_QUESTION, (question, thread, "open", _NOW, _ASKED)),
            say(4, "question.asked"),
        ],
        [
            move(5, "running", _SUMMARY),
            event(5, "question.answered", question=question, value=ANSWER, by="otto"),
            (_QUESTION, (question, thread, "answered", _NOW, _ASKED)),
            say(5, "question.settled"),
            (_SAID, (f"{thread}.4",)),
        ],
        [move(6, "running", _SUMMARY), event(6, "tool.started", **QUESTION)],
        [
            move(7, "running", _SUMMARY),
            event(7, "tool.returned", value=REFUNDED),
            (_SAID, (f"{thread}.5",)),
        ],
        [
            move(9, "finished", _FULL),
            event(8, "model.replied", text=DONE),
            event(9, "thread.finished"),
            say(9, "thread.finished"),
        ],
    ]


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
