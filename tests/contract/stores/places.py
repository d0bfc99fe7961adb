"""Where stores can be opened: one place for each kind, with room for several stores on one data.

A new kind of store adds a line to `PLACES`, and the whole suite runs over it.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from storage.memory import MemoryStore, MemoryTables
from storage.sqlite import SqliteStore
from storage.store import Store
from tests.doubles.seals import seal


class Place(Protocol):
    """A clean database."""

    hints_across: bool
    """Whether one store hears what another on the same data does."""

    def store(self) -> Store:
        """Give a store on it, not opened yet."""
        ...

    def another(self) -> Store:
        """Give one more on the same data, as another process would have it; not opened yet."""
        ...

    def keyless(self) -> Store:
        """Give one more, of somebody who has not got the key; not opened yet."""
        ...


class MemoryPlace:
    """Tables in this process."""

    hints_across = True

    def __init__(self) -> None:
        """Begin with empty tables."""
        self._tables = MemoryTables()

    def store(self) -> Store:
        """Give a store on the tables."""
        return MemoryStore(self._tables, seal=seal)

    def another(self) -> Store:
        """Give another on the same tables."""
        return MemoryStore(self._tables, seal=seal)

    def keyless(self) -> Store:
        """Give one without the key."""
        return MemoryStore(self._tables)


class SqlitePlace:
    """A file."""

    hints_across = False
    """One server is the limit, and it hears itself."""

    def __init__(self, folder: Path) -> None:
        """Name the file."""
        self._path = folder / "parley.db"

    def store(self) -> Store:
        """Give a store on the file, as the server has it."""
        return SqliteStore(self._path, seal=seal)

    def another(self) -> Store:
        """Give one beside it, as a command has it."""
        return SqliteStore(self._path, shared=True, seal=seal)

    def keyless(self) -> Store:
        """Give one without the key."""
        return SqliteStore(self._path, shared=True)


@asynccontextmanager
async def _memory(_folder: Path) -> AsyncIterator[Place]:
    yield MemoryPlace()


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncIterator[Place]:
    yield SqlitePlace(folder)


PLACES: dict[str, Callable[[Path], AbstractAsyncContextManager[Place]]] = {
    "memory": _memory,
    "sqlite": _sqlite,
}
if importlib.util.find_spec("tests.doubles.postgres") is not None:
    PLACES["postgres"] = importlib.import_module("tests.doubles.postgres").postgres_place
