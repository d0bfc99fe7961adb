"""Opening a file: connections with our settings, and a schema that fits the code.

A new file gets its tables from a script, and a current one is only asked for its version, so that
neither imports Alembic. Only a file of an older version is migrated, by whoever has the lock.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from storage.errors import StoreError, Unreadable
from storage.migrations.versions import REVISIONS, check_version
from storage.seals import chained
from storage.sqlite.failures import translating
from storage.sqlite.moving import refuse_if_moved

SCHEMA = Path(__file__).parent.parent / "schema_sqlite.sql"
_OLDEST = (3, 35)
"""The first with RETURNING."""
_LONGEST_WAL = 4_000
"""Pages, 16 MB: the longer, the more often a page that many commits write is copied only once."""
_PATIENCE_S = 5.0
"""How long to wait for a command that works on the same file."""


def connect(path: Path, *, max_pages: int = 0) -> sqlite3.Connection:
    """Open for reading and writing; the file is made if it is not there."""
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: 3.35 is needed")
    connection = _connect(str(path), uri=False)
    try:
        # SQLite knows no hash: our own function keeps the chain within the one statement.
        connection.create_function("chained", 2, chained, deterministic=True)
        if max_pages:
            connection.execute(f"PRAGMA max_page_count={max_pages}")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path, *, patience_s: float = _PATIENCE_S) -> sqlite3.Connection:
    """Open for reading alone."""
    return _connect(f"file:{quote(str(path))}?mode=ro", uri=True, patience_s=patience_s)


def _connect(name: str, *, uri: bool, patience_s: float = _PATIENCE_S) -> sqlite3.Connection:
    return sqlite3.connect(
        name,
        uri=uri,
        timeout=patience_s,
        isolation_level=None,  # we begin and commit by ourselves
        check_same_thread=False,  # opened here, used by one other thread
        cached_statements=256,
    )


def prepare(path: Path, connection: sqlite3.Connection) -> bool:
    """Make the tables of a new file; False if an older version must be migrated first."""
    with translating(path):
        if not _has_tables(path, connection):
            _make_tables(connection)
        [version] = connection.execute("SELECT version_num FROM alembic_version").fetchone() or [""]
        if version in ("", *REVISIONS[:-1]):
            return False
        check_version(version)
        refuse_if_moved(connection, path)
        _use_wal(path, connection)
    return True


def migrate(path: Path) -> None:
    """Bring an older file to the version of this code."""
    from storage.migrations.upgrades import upgrade  # noqa: PLC0415 (half a second, seldom needed)

    upgrade(f"sqlite:///{quote(str(path.absolute()))}")


def _has_tables(path: Path, connection: sqlite3.Connection) -> bool:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if names and "alembic_version" not in names:
        raise Unreadable(f"{path} is a database of another program")
    return bool(names)


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN EXCLUSIVE")  # a command may be making them at the same moment
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in SCHEMA.read_text().split(";\n")[:-1]:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


def _use_wal(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA wal_autocheckpoint={_LONGEST_WAL}")
    [mode] = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        raise StoreError(f"the file system of {path} can't hold a SQLite database in WAL mode")
