"""The tables on PostgreSQL: made by the migrations, equal to their declaration, found by index."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from msgspec.structs import replace
from sqlalchemy import Connection

from storage.errors import SchemaTooOld
from storage.migrations.connections import run_on
from storage.migrations.upgrades import upgrade
from storage.migrations.versions import REVISIONS
from storage.postgres import PostgresStore, statements
from storage.postgres.commit_sql import COMMIT, COMMIT_EVENTS
from storage.tables import tables
from storage.values import Wish
from tests.contract.stores.rows import NOW, committed, saying
from tests.doubles.postgres import postgres_url, upgraded


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Give a database with our tables."""
    async with postgres_url(upgraded) as clean:
        yield clean


def _differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), tables()))


async def test_migrations_make_the_tables_that_are_declared(url: str) -> None:
    """Alembic would find nothing left to do."""
    assert await asyncio.to_thread(run_on, url, _differences) == []


async def test_upgrading_twice_or_at_the_same_time_changes_nothing() -> None:
    """Two machines that start at once may both try."""
    async with postgres_url() as url:
        machines = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", _UPGRADING, url)
            for _ in range(3)
        ]
        async with asyncio.timeout(30):
            ends = [await machine.wait() for machine in machines]
        await upgraded(url)

        assert ends == [0, 0, 0]

        assert await asyncio.to_thread(run_on, url, _differences) == []


@pytest.mark.parametrize("version", REVISIONS[:-1])
async def test_older_database_is_refused_until_it_is_upgraded_with_what_it_holds(
    version: str,
) -> None:
    """Other machines may still run older code, so only `parley db upgrade` does it."""
    async with postgres_url() as url:
        await asyncio.to_thread(upgrade, url, version)
        connection = await asyncpg.connect(url)
        await connection.execute(_OLD_THREAD)
        await connection.close()
        store = PostgresStore(url)
        with pytest.raises(SchemaTooOld, match="parley db upgrade"):
            await store.open()

        await asyncio.to_thread(upgrade, url)

        await store.open()
        try:
            await committed(store, replace(saying("t1", "hello"), places=["slack:T1:C1:1"]))
            await store.keep("slack", "token", b"1", now=NOW)
            assert await store.thread_at("slack:T1:C1:1") == "t1"
            assert [row.id for row in (await store.threads(Wish(requester="otto"))).items] == ["t1"]
            assert await store.kept("slack", now=NOW) == ["token"]
        finally:
            await store.close()
        assert await asyncio.to_thread(run_on, url, _differences) == []


_OLD_THREAD = """
INSERT INTO threads VALUES ('t1', 'a', 'waiting', '', 'otto', '', 0, 0, NULL, NULL, 0, '{}', 1, 1)
"""

_UPGRADING = """
import sys
from storage.migrations.upgrades import upgrade
upgrade(sys.argv[1])
"""

_MANY = """
INSERT INTO threads
SELECT 't' || n, 'a', 'waiting', '', '', '', 1, 1, CASE WHEN n % 1000 = 0 THEN n END, NULL, 0,
       '{}', n, n
FROM generate_series(1, 20000) AS n;
INSERT INTO events SELECT 't' || n, 1, '{}' FROM generate_series(1, 20000) AS n;
INSERT INTO inbox SELECT 's', 'k' || n, '', 't', 1, NULL FROM generate_series(1, 20000) AS n;
INSERT INTO questions
SELECT 'q' || n, 't' || n, 'answered', n, NULL, '{}' FROM generate_series(1, 20000) AS n;
INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts, error)
SELECT 'd' || n, 't' || n, 1, 'a', '{}', CASE WHEN n % 1000 = 0 THEN 'pending' ELSE 'sent' END, n,
       0, 0, ''
FROM generate_series(1, 20000) AS n;
INSERT INTO places SELECT 'p' || n, 't' || n, n FROM generate_series(1, 20000) AS n;
INSERT INTO kept SELECT 'o' || n % 50, 'k' || n, '', NULL FROM generate_series(1, 20000) AS n;
INSERT INTO snapshots SELECT 't' || n, 1, '' FROM generate_series(1, 20000) AS n;
ANALYZE;
"""


_STATEMENTS = {
    "commit": COMMIT,
    "commit events": COMMIT_EVENTS,
    "claim": statements.CLAIM,
    "renew": statements.RENEW,
    "release": statements.RELEASE,
    "queued": statements.QUEUED,
    "claim deliveries": statements.CLAIM_DELIVERIES,
    "end deliveries": statements.END_DELIVERIES,
    "deliveries": statements.DELIVERIES,
    "thread": statements.THREAD,
    "thread by key": statements.THREAD_BY_KEY,
    "thread at": statements.THREAD_AT,
    "load": statements.LOAD,
    "events": statements.EVENTS,
    "question": statements.QUESTION,
    "inbox": statements.INBOX,
    "sweep": statements.SWEEP,
    "recall": statements.RECALL,
    "keep": statements.KEEP,
    "forget": statements.FORGET,
    "take": statements.TAKE,
    "kept": statements.KEPT,
    "save snapshot": statements.SAVE_SNAPSHOT,
}


async def _plan(connection: asyncpg.Connection, sql: str) -> str:
    """Give the plan for all arguments, which is the one that the store uses."""
    await connection.execute(f"PREPARE it AS {sql}")
    taken = await connection.fetchval(
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'it'"
    )
    plan = await connection.fetch(f"EXPLAIN EXECUTE it ({', '.join(['NULL'] * taken)})")
    await connection.execute("DEALLOCATE it")
    return "\n".join(row[0] for row in plan)


async def test_no_statement_reads_a_whole_table(url: str) -> None:
    """Neither the table nor the whole of an index, however many threads wait."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(_MANY)
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        plans = {name: await _plan(connection, sql) for name, sql in _STATEMENTS.items()}
    finally:
        await connection.close()

    assert {name: plan for name, plan in plans.items() if "Seq Scan" in plan} == {}
