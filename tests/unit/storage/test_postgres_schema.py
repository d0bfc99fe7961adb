"""The tables on PostgreSQL: made by the migrations, and equal to their declaration."""

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
from storage.postgres import PostgresStore
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
    return list(compare_metadata(MigrationContext.configure(connection), tables(on_server=True)))


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
