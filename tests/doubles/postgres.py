"""A real PostgreSQL for the tests, by pip alone; `TEST_DATABASE_URL` names another to use instead.

All tests share one server, which starts when the first asks; each has a database of its own. The
user of another server must be allowed to create databases.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from storage.postgres import PostgresStore
from tests.doubles.postgres_server import PostgresServer
from tests.doubles.seals import seal

Prepare: TypeAlias = Callable[[str], Awaitable[None]]
"""Makes the tables in the empty database of this URL, once for all tests that ask for the same."""


@functools.cache
def shared_server_url() -> str:
    """Give the server that all tests share: the one that was named, or ours, started now."""
    named = os.environ.get("TEST_DATABASE_URL")
    if named:
        return named
    server = PostgresServer()
    atexit.register(server.close)
    server.start()
    return server.url


@asynccontextmanager
async def postgres_url(
    prepare: Prepare | None = None, *, server: str | None = None
) -> AsyncIterator[str]:
    """Give an empty database for one test, with the tables that `prepare` makes.

    Without `prepare` it is new, and dropped afterwards. With it, it may have served another test
    and was emptied since, which takes a tenth of the time: such a test must not change the tables.
    """
    if server is None:
        server = await asyncio.to_thread(shared_server_url)
    if prepare is None:
        name = await _create(server)
        yield _with_database(server, name)
        await _administer(server, f'DROP DATABASE "{name}" WITH (FORCE)')
        return
    idle = _idle[server, prepare]
    url = idle.pop() if idle else await _prepared(server, prepare)
    yield url
    await _empty(url)
    idle.append(url)


_idle: dict[tuple[str, Prepare], list[str]] = defaultdict(list)

_EMPTY = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables
                WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $$
"""


async def _prepared(server: str, prepare: Prepare) -> str:
    name = await _create(server)
    if "TEST_DATABASE_URL" in os.environ:  # a server that outlives us
        drop = f'DROP DATABASE "{name}" WITH (FORCE)'
        atexit.register(lambda: asyncio.run(_administer(server, drop)))
    url = _with_database(server, name)
    await prepare(url)
    return url


async def _create(server: str) -> str:
    name = f"parley_{uuid.uuid4().hex}"
    await _administer(server, f'CREATE DATABASE "{name}"')
    return name


async def _empty(url: str) -> None:
    await _administer(url, _EMPTY)


async def _administer(server: str, statement: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


class PostgresPlace:
    """A clean database with our tables, for the contract suite of the stores."""

    hints_across = True

    def __init__(self, url: str) -> None:
        """Name the database."""
        self.url = url

    def store(self) -> PostgresStore:
        """Give a store on it, not opened yet."""
        return PostgresStore(self.url, seal=seal)

    def another(self) -> PostgresStore:
        """Give one more, as another process would have it."""
        return PostgresStore(self.url, seal=seal)

    def keyless(self) -> PostgresStore:
        """Give one of somebody who has not got the key."""
        return PostgresStore(self.url)


@asynccontextmanager
async def postgres_place(_folder: Path) -> AsyncIterator[PostgresPlace]:
    """Give a place of its own to one test."""
    async with postgres_url(upgraded) as url:
        yield PostgresPlace(url)


async def upgraded(url: str) -> None:
    """Make our tables, as `parley db upgrade` does."""
    from storage.migrations.upgrades import upgrade  # noqa: PLC0415 (half a second)

    await asyncio.to_thread(upgrade, url)
