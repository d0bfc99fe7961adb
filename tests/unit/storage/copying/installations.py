# ruff: noqa: S608 - the statements are put together of the names of our own tables
"""Two databases: an SQLite file with something in every table, and an empty PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import asyncpg

from agent_core.thread.events import Millis
from storage.copying.copying import Copied, Copying
from storage.copying.source import alone, beside
from storage.copying.target import opened
from storage.sqlite import SqliteStore
from storage.tables import tables

NOW = Millis(1_800_000_000_000)
ROWS = 12
"""In each table; of the events, in each of so many threads."""


async def make_file(path: Path, rows: int = ROWS) -> None:
    """Make a file with rows in every table that is declared, with odd signs, and nulls."""
    store = SqliteStore(path)
    await store.open()
    await store.close()
    with closing(sqlite3.connect(path)) as db, db:
        for table in tables().sorted_tables:
            names = [column.name for column in table.columns]
            db.executemany(
                f'INSERT INTO "{table.name}" ({", ".join(map(repr, names))})'
                f" VALUES ({', '.join('?' * len(names))})",
                ([_value(column, n) for column in table.columns] for n in range(1, rows + 1)),
            )
        more = [("thread 1 é🦊", seq, f'{{"at":{seq}}}') for seq in range(2, rows + 1)]
        db.executemany("INSERT INTO events (thread, seq, body) VALUES (?, ?, ?)", more)


def _value(column: Any, n: int) -> object:  # noqa: ANN401 (a column of SQLAlchemy's)
    if column.nullable and n % 2:
        return None
    match str(column.type):
        case "TEXT":
            return f"{column.name} {n} é🦊"
        case "BLOB":
            return bytes([0, n % 256, 255])
        case _:
            return -n if column.name == "wake_at" else n


async def copied(path: Path, url: str, *, ahead: bool = False) -> list[Copied]:
    """Copy, as the command does."""
    async with opened(url) as target:
        with (beside if ahead else alone)(path) as source:
            copying = Copying(source, target, lambda *_: None)
            return await (copying.ahead() if ahead else copying.to_end(now=NOW))


def written(done: list[Copied]) -> dict[str, int]:
    """Tell how many rows of which tables were written."""
    return {table.table: table.written for table in done if table.written}


def in_file(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Look at the file, or change it, behind everybody's back."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement).fetchall()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """Look at the database, or change it, behind everybody's back."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def in_database(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement there."""
    async with connected(url) as connection:
        return [tuple(row) for row in await connection.fetch(statement)]


async def same_rows(path: Path, url: str) -> None:
    """Compare every table value by value, by other means than digests; the marks are left out."""
    for table in tables().sorted_tables:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        here = in_file(path, f"SELECT {names} FROM {table.name}")
        there = await in_database(url, f"SELECT {names} FROM {table.name}")

        assert _of_all(here) == _of_all(there), table.name


def _of_all(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Leave out what a database says of itself."""
    return sorted(
        (row for row in rows if row[0] not in {"moved", "copied", "schema serves"}), key=repr
    )
