"""`./parley bench tables [EVENTS …]`: the same statements on PostgreSQL as its tables grow.

Pages do not depend on what else the machine does, times do. Each statement is run as the store
runs it, by a driver that has PostgreSQL explain and run it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from typing import Any

import asyncpg

from agent_core.thread.events import MessageReceived, Millis, ThreadId
from storage.postgres import commits, statements
from storage.postgres.batching import Job
from storage.postgres.driver import Driver, Row, Tuning
from storage.seals import sealed
from storage.texts import written
from storage.values import Commit
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.seals import seal
from tests.unit.storage.plans.crowd import filling

_EVENTS = (10_000, 2_000_000)
_OF_A_THREAD = 10
_TIMES = 15
_NOW = Millis(10**12)
_TEN_WAIT = """
UPDATE threads SET wake_at = CASE WHEN created_at <= 10 THEN 1 END;
UPDATE deliveries SET status = CASE WHEN n <= 10 THEN 'pending' ELSE 'sent' END, due_at = 1;
"""
"""However large the tables are: what waits is another matter than what is done."""


class Explaining(Driver):
    """Has each statement explained, and gives its pages and milliseconds in place of its rows."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 (asyncpg has no types)
        """Ask over this connection."""
        super().__init__("", Tuning())
        self._db = connection
        self.seen: list[tuple[int, float]] = []

    async def fetch(self, sql: str, *arguments: object, again: bool) -> list[Row]:  # noqa: ARG002
        """Run it, and take it back."""
        transaction = self._db.transaction()
        await transaction.start()
        told = await self._db.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", *arguments)
        await transaction.rollback()
        [plan] = json.loads(told)
        pages = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
        self.seen.append((pages, plan["Execution Time"]))
        return []


async def measure(connection: Any) -> dict[str, tuple[int, float]]:  # noqa: ANN401
    """Give the median pages and milliseconds of each statement."""
    asked: dict[str, tuple[str, tuple[object, ...]]] = {
        "claim": (statements.CLAIM, (_NOW, 1000, 10, [])),
        "load a thread": (statements.LOAD, ("id 77", None)),
        "claim deliveries": (statements.CLAIM_DELIVERIES, (_NOW, 1000, 10)),
        "question": (statements.QUESTION, ("id 77",)),
    }
    found = {}
    for name, (sql, arguments) in asked.items():
        driver = Explaining(connection)
        for _ in range(_TIMES):
            await driver.fetch(sql, *arguments, again=True)
        found[name] = _median(driver)
    driver = Explaining(connection)
    for _ in range(_TIMES):
        commit = Commit(
            thread=ThreadId("id 77"),
            events=[MessageReceived(at=_NOW, text="hello")],
            wake_at=_NOW,
            now=_NOW,
        )
        await commits.write(driver, [Job(commit, sealed(seal, commit, written(commit)))])
    return found | {"commit an event": _median(driver)}


def _median(driver: Explaining) -> tuple[int, float]:
    pages, times = zip(*driver.seen, strict=True)
    return int(statistics.median(pages)), statistics.median(times)


async def grown(events: int) -> dict[str, tuple[int, float]]:
    """Measure on tables of so many events."""
    async with postgres_url(upgraded) as url:
        connection = await asyncpg.connect(url)
        try:
            for statement in filling(events // _OF_A_THREAD, many={"events": events}):
                await connection.execute(statement)
            await connection.execute(_TEN_WAIT)
            await connection.execute("VACUUM FULL ANALYZE")
            await connection.execute("SET plan_cache_mode = force_generic_plan; SET jit = off")
            return await measure(connection)
        finally:
            await connection.close()


async def main(sizes: list[int]) -> None:
    """Print a table: a row for each statement, a column for each size."""
    columns = [await grown(size) for size in sizes]
    heads = [f"{size:,} events" for size in sizes]
    print("| statement | " + " | ".join(heads) + " |")
    print("|---|" + "---|" * len(heads))
    for name in columns[0]:
        cells = [f"{pages} pages, {ms:.2f} ms" for pages, ms in (one[name] for one in columns)]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or list(_EVENTS)))
