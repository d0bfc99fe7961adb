"""The driver's exceptions, as ours: who must act, in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import StoreBusy, StoreError, StoreFull, StoreReadOnly, Unreadable

_PRIMARY = 0xFF
"""The low byte of an extended code tells the kind."""


def translated(exc: sqlite3.Error, path: Path) -> StoreError:
    """Say what happened to the database at `path`; the driver's exception stays as the cause."""
    error = _meaning(getattr(exc, "sqlite_errorcode", 0), exc, path)
    error.__cause__ = exc
    return error


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Translate whatever the driver raises inside."""
    try:
        yield
    except sqlite3.Error as exc:
        raise translated(exc, path) from exc


def _meaning(code: int, exc: sqlite3.Error, path: Path) -> StoreError:
    match code & _PRIMARY:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path} is locked by another program")
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"there is no room left for {path}")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StoreReadOnly(f"{path} may not be written to")
        case sqlite3.SQLITE_CANTOPEN:
            return _not_opened(path)
        case sqlite3.SQLITE_NOTADB:
            return Unreadable(f"{path} is not a SQLite database")
        case sqlite3.SQLITE_CORRUPT:
            return Unreadable(f"{path} is damaged ({exc}): restore it from a backup")
        case sqlite3.SQLITE_IOERR:
            name = getattr(exc, "sqlite_errorname", "")
            return StoreError(f"the disk failed under {path} ({exc}, {name})")
    return StoreError(f"SQLite can't do it on {path}: {exc}")


def _not_opened(path: Path) -> StoreError:
    if path.is_dir():
        return StoreError(f"{path} is a folder, not a file")
    if not path.parent.is_dir():
        return StoreError(f"there is no folder {path.parent} for {path.name}")
    return StoreReadOnly(f"{path} can't be opened: may we read and write it, and its folder?")
