"""Upgrading a PostgreSQL that is at work: nobody waits for it, and older code may go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import asyncpg
import pytest

from storage.errors import SchemaTooNew
from storage.migrations import upgrades
from storage.migrations.versions import HEAD, REVISIONS, SERVES, SERVES_NAME
from storage.postgres import PostgresStore
from tests.doubles.postgres import postgres_url, upgraded

LONGEST = 1.5
"""Seconds that a commit may take beside a migration, on a test machine that is busy."""
READING = 3.0
"""Seconds for which somebody reads: who queues up behind that would be seen."""

_ROWS = """
INSERT INTO threads SELECT
    't' || n, 'a', 'waiting', 'slack:1', 'otto', '', 1, 1, NULL, NULL, 0, '{}', n, n
FROM generate_series(1, 20000) AS n;
INSERT INTO events SELECT 't' || n, 1, '{}' FROM generate_series(1, 20000) AS n;
INSERT INTO inbox SELECT 's', 'k' || n, '', 't', 1, NULL FROM generate_series(1, 20000) AS n;
INSERT INTO questions
SELECT 'q' || n, 't' || n, 'open', n, NULL, '{}' FROM generate_series(1, 20000) AS n;
INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts, error)
SELECT 'd' || n, 't' || n, 1, 'a', '{}', 'sent', n, 0, 0, '' FROM generate_series(1, 20000) AS n;
"""

_READ_ALL = "SELECT 1 FROM threads, events, questions, deliveries, inbox, settings LIMIT 1"


@dataclass
class Writer:
    """Somebody who commits all the time, and takes the time of each commit."""

    url: str
    times: list[float] = field(default_factory=list)

    async def write(self) -> None:
        """Write what a commit writes, to the tables as they were at first and still are."""
        clock = asyncio.get_running_loop().time
        connection = await asyncpg.connect(self.url)
        try:
            for number in range(1_000_000):
                start = clock()
                async with connection.transaction():
                    await self._commit(connection, number)
                self.times.append(clock() - start)
        finally:
            connection.terminate()

    async def _commit(self, connection: asyncpg.Connection, number: int) -> None:
        await connection.execute("UPDATE threads SET seq = seq + 1, updated_at = 9 WHERE id = 't7'")
        await connection.execute("INSERT INTO events VALUES ('t7', $1, '{}')", number + 2)
        await connection.execute("INSERT INTO inbox VALUES ('w', $1, '', 't', 1)", str(number))
        await connection.execute("UPDATE questions SET body = '{}' WHERE id = 'q7'")
        await connection.execute(
            "INSERT INTO deliveries (id, thread, seq, address, body, status, epoch, attempts,"
            " error) VALUES ($1, 't7', 1, 'a', '{}', 'failed', 0, 0, '')",
            f"w{number}",
        )


@asynccontextmanager
async def writing(url: str) -> AsyncIterator[Writer]:
    """Write for a while."""
    writer = Writer(url)
    task = asyncio.create_task(writer.write())
    try:
        yield writer
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def read_for_long(url: str) -> None:
    """Read everything in a transaction, and dawdle."""
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.execute(_READ_ALL)
        await asyncio.sleep(READING)
    await connection.close()


async def test_no_commit_waits_for_a_migration() -> None:
    """From the first tables to the newest, over rows: also while somebody reads for long."""
    async with postgres_url() as url:
        await asyncio.to_thread(upgrades.upgrade, url, REVISIONS[0])
        connection = await asyncpg.connect(url)
        await connection.execute(_ROWS)

        async with writing(url) as writer:
            await asyncio.to_thread(upgrades.upgrade, url, "0003")
            reading = asyncio.create_task(read_for_long(url))
            await asyncio.to_thread(upgrades.upgrade, url)
            await reading

        assert await connection.fetchval("SELECT version_num FROM alembic_version") == HEAD
        assert await connection.fetchval("SELECT count(*) FROM inbox WHERE source = 'w'") >= len(
            writer.times
        )
        assert await connection.fetchval("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0
        await connection.close()
        assert len(writer.times) > 50
        assert max(writer.times) < LONGEST


async def test_index_that_was_half_made_is_made_again() -> None:
    """Somebody pulled the plug on an upgrade: the next one finds its rubble."""
    async with postgres_url() as url:
        await asyncio.to_thread(upgrades.upgrade, url, "0004")
        connection = await asyncpg.connect(url)
        await connection.execute(_ROWS)
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.execute(
                "CREATE UNIQUE INDEX CONCURRENTLY deliveries_failed ON deliveries (status)"
            )

        await asyncio.to_thread(upgrades.upgrade, url)

        made = "SELECT indexdef FROM pg_indexes WHERE indexname = 'deliveries_failed'"
        assert "(status = 'failed'::text)" in await connection.fetchval(made)
        assert await connection.fetchval("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0
        await connection.close()


async def test_older_code_goes_on_with_tables_that_serve_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A rolling restart: the tables are newer than some of the processes that start."""
    async with postgres_url() as url:
        await upgraded(url)
        connection = await asyncpg.connect(url)
        await connection.execute("UPDATE alembic_version SET version_num = '9999'")

        store = PostgresStore(url)
        with caplog.at_level(logging.WARNING):
            await store.open()
        await store.close()
        assert "newer code (9999)" in caplog.text
        assert await asyncio.to_thread(upgrades.check, url) == "9999"

        await connection.execute("UPDATE settings SET value = '9998' WHERE name = $1", SERVES_NAME)
        with pytest.raises(SchemaTooNew, match="9999"):
            await PostgresStore(url).open()
        with pytest.raises(SchemaTooNew, match="9999"):
            await asyncio.to_thread(upgrades.upgrade, url)
        await connection.close()


def test_code_serves_itself() -> None:
    """The oldest code that may go on is one that there is."""
    assert SERVES in REVISIONS
