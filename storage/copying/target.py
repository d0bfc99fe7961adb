"""The PostgreSQL database that is filled: nobody may use it before it is whole.

While it is being filled, its schema has the version `copying …`, which no server opens. What was
filled before a crash is found again by its digests, so nothing else has to be remembered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg

from storage.copying.groups import Group, Groups
from storage.copying.plans import COPIED, Key, Plan, plans
from storage.errors import HalfCopied, StoreError, StoreInUse
from storage.migrations.versions import COPYING, HEAD, REVISIONS, check_version
from storage.postgres.failures import failure_of

_OURS_ALONE = 7235928
"""The advisory lock of copying, beside that of migrations."""
_AT_ONCE = 10_000
_TIMEOUT_S = 10

_SESSION = """
SET synchronous_commit = off;
SET statement_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
"""
"""The last transaction is synchronous, and takes all that was written before it to the disk."""

_VERSION = "SELECT version_num FROM alembic_version"
_FILLED = """
INSERT INTO settings (name, value) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_SERVERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name ~ '^parley'
"""


class Target:
    """A database, within `opened`."""

    def __init__(self, connection: Any, name: str) -> None:  # noqa: ANN401 (asyncpg has no types)
        """Write over this connection."""
        self._db = connection
        self.name = name

    async def groups(self, plan: Plan) -> Groups:
        """Have a table read, and give its digests."""
        found = Groups()
        size = len(plan.group)
        with _told(plan):
            async with self._db.transaction():
                async for row in self._db.cursor(plan.there_digests, prefetch=_AT_ONCE):
                    found[tuple(row)[:size]] = Group(row[size], row[size + 1])
        return found

    async def delete(self, plan: Plan, keys: Sequence[Key]) -> None:
        """Take groups away."""
        for start in range(0, len(keys), _AT_ONCE):
            with _told(plan):
                await self._delete(plan, keys[start : start + _AT_ONCE])

    async def insert(self, plan: Plan, rows: Sequence[tuple[object, ...]]) -> None:
        """Put rows in, all or none."""
        with _told(plan):
            await self._db.copy_records_to_table(plan.table, records=rows, columns=plan.columns)

    async def _delete(self, plan: Plan, keys: Sequence[Key]) -> None:
        await self._db.execute(plan.there_delete, *(list(each) for each in zip(*keys, strict=True)))

    async def open_up(self, token: str) -> None:
        """Let servers use it; whole and durable when this returns."""
        with _told():
            await self._check_no_server()
            for plan in plans():
                if plan.counter:
                    await self._db.execute(_counting(plan))
            await self._db.execute("ANALYZE")  # or the first plans would be those of empty tables
            await self._db.execute("SET synchronous_commit = on")
            async with self._db.transaction():
                await self._db.execute(_FILLED, COPIED, token)
                await self._db.execute("UPDATE alembic_version SET version_num = $1", HEAD)

    async def is_filled(self, token: str) -> bool:
        """Tell whether it was filled to the end by the copy with this token."""
        with _told():
            by = await self._db.fetchval("SELECT value FROM settings WHERE name = $1", COPIED)
            return bool(by == token and await self._version() != COPYING)

    async def is_half(self) -> bool:
        """Tell whether a copy has begun, and not ended."""
        with _told():
            return await self._version() == COPYING

    async def begin(self) -> None:
        """Keep servers out; raises unless it was empty, or a copy had begun."""
        with _told():
            await self._lock()
            version = await self._version()
            await self._check_no_server()
            if version == COPYING:
                return
            _check(version)
            await self._check_empty()
            await self._db.execute("UPDATE alembic_version SET version_num = $1", COPYING)

    async def _version(self) -> str | None:
        version: str | None = await self._db.fetchval(_VERSION)
        return version

    async def _lock(self) -> None:
        if not await self._db.fetchval("SELECT pg_try_advisory_lock($1)", _OURS_ALONE):
            raise StoreInUse(f"another `parley db copy` works on the target {self.name}")

    async def _check_no_server(self) -> None:
        there = await self._db.fetchval(_SERVERS)
        if there:
            raise StoreInUse(
                f"a Parley works on the target {self.name} ({there} connections): stop it first, "
                "or it would begin with what is not whole yet"
            )

    async def _check_empty(self) -> None:
        full = [plan.table for plan in plans() if await self._db.fetchval(plan.there_any)]
        if full:
            raise StoreError(
                f"the target {self.name} is not empty: there is something in {', '.join(full)}. "
                "Two installations can't be joined: copy into a new database (`createdb NAME`)"
            )


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Target]:
    """Connect; the tables are made if there are none, or not all of them."""
    with _told():
        connection = await asyncpg.connect(
            url, timeout=_TIMEOUT_S, server_settings={"application_name": "copying to parley"}
        )
    try:
        with _told():
            await connection.execute(_SESSION)
            if await _wants_tables(connection):
                await _make_tables(url)
        yield Target(connection, public_name(url))
    finally:
        connection.terminate()


async def _wants_tables(connection: Any) -> bool:  # noqa: ANN401 (asyncpg has no types)
    """Tell whether tables are missing, and nobody's installation is there: we may make them.

    There may be some of them, if we were killed while we made them.
    """
    if await connection.fetchval("SELECT to_regclass('alembic_version')") is None:
        return True
    version = await connection.fetchval(_VERSION)
    if version is not None and version not in REVISIONS[:-1]:
        return False
    if await connection.fetchval("SELECT to_regclass('threads')") is None:
        return True
    return not await connection.fetchval("SELECT EXISTS (SELECT FROM threads)")


async def _make_tables(url: str) -> None:
    from storage.migrations.upgrades import upgrade  # noqa: PLC0415 (half a second, seldom needed)

    await asyncio.to_thread(upgrade, url)


def public_name(url: str) -> str:
    """Name a database without who opens it: no password is ever told or kept."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    socket = "".join(f"?host={folder}" for folder in parse_qs(parts.query).get("host", ())[:1])
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}{socket}"


def _check(version: str | None) -> None:
    try:
        check_version(version)
    except HalfCopied as exc:
        raise HalfCopied(
            f"a copy into the target was begun by another version of Parley ({version}): go on "
            "with that one, or copy into a new database"
        ) from exc
    except StoreError as exc:
        raise type(exc)(f"the target: {exc}") from exc


def _counting(plan: Plan) -> str:
    """Let the counter go on after the last row that was copied."""
    sequence = f"pg_get_serial_sequence('{plan.table}', '{plan.counter}')"
    last = f'SELECT max("{plan.counter}") AS last FROM "{plan.table}"'
    return f"SELECT setval({sequence}, last) FROM ({last}) AS rows WHERE last IS NOT NULL"


@contextmanager
def _told(plan: Plan | None = None) -> Iterator[None]:
    """Say what went wrong with PostgreSQL in our words, and with which table."""
    try:
        yield
    except StoreError:
        raise
    except (
        OSError,
        ValueError,
        TimeoutError,
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
    ) as exc:
        error = failure_of(exc).error
        where = f"{plan.table}: " if plan else ""
        if isinstance(error, StoreError):
            raise type(error)(f"the target: {where}{error}") from exc
        raise StoreError(f"the target can't take it over: {where}{exc}") from exc
