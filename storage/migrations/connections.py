"""Connections to migrate over: synchronous for Alembic, whatever the database.

asyncpg has no synchronous face, so its connection is lent to Alembic from a loop of its own. Don't
call this inside a running loop: go through `asyncio.to_thread`.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from storage.errors import (
    BadStoreUrl,
    PooledByTransaction,
    StoreError,
    StoreReadOnly,
    StoreUnreachable,
)
from storage.locations import File, Memory, Server, locate

T = TypeVar("T")
_TIMEOUT_S = 10
_OF_ANOTHER_SESSION = frozenset({"26000", "42P05"})
"""A statement that we have prepared is not there, or one is there that we have not prepared."""

_NOT_ALLOWED = "42501"
_NO_TABLES = (
    "the user in the database's URL may not make tables there: let it own the database "
    "(`createdb --owner USER NAME`, or `ALTER DATABASE NAME OWNER TO USER`)"
)


def run_on(url: str, work: Callable[[sa.Connection], T]) -> T:
    """Do some work on a connection to the database."""
    match locate(url):
        case File(path):
            return _on_file(path, work)
        case Server(address):
            return _on_server(address, work)
        case Memory():
            raise BadStoreUrl("a store in memory has no schema to upgrade")


def _on_file(path: Path, work: Callable[[sa.Connection], T]) -> T:
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(path, isolation_level=None, timeout=_TIMEOUT_S),
        poolclass=sa.pool.NullPool,
    )
    # The driver would begin a transaction only before it writes rows, so tables would be made
    # outside of it: we begin by ourselves.
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    try:
        with engine.connect() as connection:
            return work(connection)
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as exc:
        raise StoreError(f"can't migrate {path}: {exc}") from exc
    finally:
        engine.dispose()


def _on_server(url: str, work: Callable[[sa.Connection], T]) -> T:
    async def lend() -> T:
        engine = create_async_engine(
            "postgresql+asyncpg://",
            # Not SQLAlchemy's reading of the URL but asyncpg's, as in the store.
            async_creator=lambda: asyncpg.connect(url, timeout=_TIMEOUT_S),
            poolclass=sa.pool.NullPool,
        )
        try:
            async with engine.connect() as connection:
                return await connection.run_sync(work)
        finally:
            await engine.dispose()

    try:
        return asyncio.run(lend())
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as exc:
        raise StoreUnreachable(f"can't reach the PostgreSQL server: {exc}") from exc
    except sa.exc.SQLAlchemyError as exc:
        state = getattr(getattr(exc, "orig", None), "sqlstate", "")
        if state in _OF_ANOTHER_SESSION:
            raise PooledByTransaction from exc
        if state == _NOT_ALLOWED:
            raise StoreReadOnly(_NO_TABLES) from exc
        raise StoreError(f"can't migrate the database: {exc}") from exc
