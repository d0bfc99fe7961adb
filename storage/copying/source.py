"""The SQLite file that is copied: read beside its server, or alone, and marked when it has moved.

The mark (`storage.sqlite.moving`) is committed before the target may be used: from then on no
server opens this file, so no thread can run on both sides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from storage.copying.groups import Groups, digested
from storage.copying.plans import Key, Plan
from storage.errors import StoreError, StoreInUse
from storage.migrations.versions import check_version
from storage.sqlite import claims, moving
from storage.sqlite.failures import translating
from storage.sqlite.lock import FileLock
from storage.sqlite.moving import Moved
from storage.sqlite.opening import connect, connect_reader


class Source:
    """A file, within `beside` or `alone`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Read over this connection."""
        self._path = path
        self._db = connection

    def groups(self, plan: Plan) -> Groups:
        """Read a table, and give its digests."""
        with translating(self._path):
            return digested(self._db.execute(plan.here_lines), len(plan.group))

    def rows(self, plan: Plan, key: Key) -> list[tuple[object, ...]]:
        """Give the rows of one group."""
        with translating(self._path):
            return self._db.execute(plan.here_rows, key).fetchall()

    def kept(self, owner: str, key: str) -> bytes | None:
        """Give what was kept for an owner."""
        asked = "SELECT value FROM kept WHERE owner = ? AND key = ?"
        with translating(self._path):
            row = self._db.execute(asked, (owner, key)).fetchone()
        return None if row is None else row[0]

    @property
    def moved(self) -> Moved | None:
        """Where the installation has gone, if it has."""
        with translating(self._path):
            return moving.moved(self._db)

    def mark(self, where: Moved) -> None:
        """Let no server open the file any more; durable when this returns."""
        with translating(self._path):
            moving.mark(self._db, where)
            self._db.execute("COMMIT")


@contextmanager
def beside(path: Path) -> Iterator[Source]:
    """Read while a server runs; what is read is of one moment, and may be old by the end."""
    with _opened(path, connect_reader) as connection:
        connection.execute("BEGIN")
        yield Source(path, connection)


@contextmanager
def alone(path: Path) -> Iterator[Source]:
    """Keep servers and commands from writing; StoreInUse tells of a server that runs."""
    with _locked(path), _opened(path, connect) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("BEGIN IMMEDIATE")
        claims.forget_all(connection)  # whoever held a lease is dead: the lock is ours
        yield Source(path, connection)


def reopen(path: Path) -> Moved | None:
    """Let servers open the file again; gives where it was said to have gone."""
    with _locked(path), _opened(path, connect) as connection:
        gone = moving.moved(connection)
        moving.erase_mark(connection)
        return gone


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    _check_there(path)
    lock = FileLock(path.resolve())
    try:
        lock.take()
    except StoreInUse as exc:
        raise StoreInUse(
            f"the source is at work ({exc}). Stop that server, and give the command again; most "
            "of it can be copied while it runs, with --ahead"
        ) from exc
    try:
        yield
    finally:
        lock.give_back()


@contextmanager
def _opened(path: Path, way: Callable[[Path], sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
    _check_there(path)
    with translating(path), closing(way(path)) as connection:
        _check_version(connection, path)
        yield connection


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"there is no file {path} to copy from")


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if "alembic_version" not in names:
        raise StoreError(f"{path} is not a database of Parley's")
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    try:
        check_version(row[0] if row else None)
    except StoreError as exc:
        raise type(exc)(f"the source {path}: {exc}") from exc
