"""The floor on PostgreSQL: the rows of one cycle by hand, one statement for all that has queued up.

The same tables and rows as ours (`floor_rows`), by asyncpg; each statement is a transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import asyncpg

from bench.gateway.floor_rows import NOW, Rows, transactions
from bench.machines.heat import main

_WRITE = """
WITH begun AS (
    INSERT INTO threads (id, agent, status, origin, requester, thread_key, seq, handled_seq,
                         wake_at, lease_until, epoch, summary, created_at, updated_at, chain)
    SELECT id, 'desk', 'running', origin, 'ann', '', 2, 0, $22, NULL, 1, summary, $22, $22, $23
    FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, origin, summary)
), moved AS (
    UPDATE threads SET seq = new.seq, status = new.status, summary = new.summary, wake_at = NULL
    FROM unnest($4::text[], $5::bigint[], $6::text[], $7::text[])
         AS new (id, seq, status, summary)
    WHERE threads.id = new.id
), events AS (
    INSERT INTO events (thread, seq, body)
    SELECT * FROM unnest($8::text[], $9::bigint[], $10::text[])
), questions AS (
    INSERT INTO questions (id, thread, status, asked_at, body)
    SELECT id, thread, status, $22::bigint, body
    FROM unnest($11::text[], $12::text[], $13::text[], $14::text[])
         AS new (id, thread, status, body)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body
), said AS (
    INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts, error)
    SELECT id, thread, seq, address, body, 'pending', $22::bigint, 0, 0, ''
    FROM unnest($15::text[], $16::text[], $17::bigint[], $18::text[], $19::text[])
         AS new (id, thread, seq, address, body)
)
UPDATE deliveries SET status = 'sent', due_at = NULL, receipt = '{}'
FROM unnest($20::text[], $21::text[]) AS new (thread, id)
WHERE deliveries.thread = new.thread AND deliveries.id = new.id
"""
_CHAIN = bytes(32)
_LANES = 2
"""Batches under way at a time: while one is made durable the next is made up."""

_Order: TypeAlias = tuple[Rows, "asyncio.Future[None]"]


class Floor:
    """A queue, and a few connections that empty it."""

    version = asyncpg.__version__

    def __init__(self) -> None:
        self._queue: asyncio.Queue[_Order] = asyncio.Queue()

    async def cycle(self, number: int) -> None:
        """Write what a cycle writes, each transaction when the one before is durable."""
        for rows in transactions(f"th_{number:020}"):
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._queue.put_nowait((rows, written))
            await written

    async def write_for_ever(self, url: str) -> None:
        """Write what has queued up, together."""
        connection = await asyncpg.connect(url)
        write = await connection.prepare(_WRITE)
        while True:
            batch = [await self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get_nowait())
            await write.fetch(*_columns([rows for rows, _ in batch]), NOW, _CHAIN)
            for _, written in batch:
                written.set_result(None)


def _columns(batch: Sequence[Rows]) -> list[list[Any]]:
    return [
        *_turned([rows.begun for rows in batch if rows.begun], 3),
        *_turned([rows.moved for rows in batch if rows.moved], 4),
        *_turned([event for rows in batch for event in rows.events], 3),
        *_turned([rows.question for rows in batch if rows.question], 4),
        *_turned([rows.said for rows in batch if rows.said], 5),
        *_turned([(rows.sent.partition(".")[0], rows.sent) for rows in batch if rows.sent], 2),
    ]


def _turned(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


@asynccontextmanager
async def opened(url: str, way: str) -> AsyncIterator[Floor]:  # noqa: ARG001 (one way only)
    """Write into tables that are there."""
    floor = Floor()
    lanes = [asyncio.create_task(floor.write_for_ever(url)) for _ in range(_LANES)]
    try:
        yield floor
    finally:
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)


if __name__ == "__main__":
    main(opened)
