"""A file that is open: its lock, its connections, and the lanes that work on them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from storage.sqlite.batches import reading, writing
from storage.sqlite.failures import translating
from storage.sqlite.lanes import Lane
from storage.sqlite.lock import FileLock
from storage.sqlite.opening import connect, connect_reader, migrate, prepare

_READERS = 2
"""A long log that is being read holds nobody else up."""
_LARGEST_BATCH = 256
"""So many share an fsync; more would let the first wait for the last."""
_CAPACITY = 10_000
"""About a second of writing: beyond that, whoever comes is told to come later."""


class Opened:
    """The connections to a file, from opening it to closing it."""

    def __init__(self, path: Path, *, shared: bool, max_pages: int) -> None:
        """Name the file."""
        # Absolute, because a program may change its folder; resolved, so that a symbolic link
        # is no way around the lock.
        self._path = path.resolve()
        self._shared = shared
        self._max_pages = max_pages
        self._lock = FileLock(self._path)
        self._connections: list[Connection] = []

    def open(self) -> None:
        """Lock, see that the tables fit, and connect; on failure nothing stays open."""
        try:
            if not self._shared:
                self._lock.take()
            with translating(self._path):
                self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        writer = connect(self._path, max_pages=self._max_pages)
        self._connections.append(writer)
        if not prepare(self._path, writer):
            self._migrate()
            prepare(self._path, writer)
        for _ in range(_READERS):
            self._connections.append(connect_reader(self._path))
        self._connections.append(connect_reader(self._path, patience_s=0))

    def _migrate(self) -> None:
        if self._shared:
            self._lock.take()  # never under a server that runs older code
        try:
            migrate(self._path)
        finally:
            if self._shared:
                self._lock.give_back()

    def close(self) -> None:
        """Close the readers first: the last to close folds the write-ahead log into the file."""
        while self._connections:
            self._connections.pop().close()
        self._lock.give_back()

    def fold_log(self) -> bool:
        """Fold the write-ahead log into the file and empty it; False while somebody reads it."""
        with translating(self._path), closing(connect(self._path)) as connection:
            [busy, _, _] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def writer(self) -> Lane:
        """Start the one thread that writes."""
        perform = writing(self._path, shared=self._shared)
        connections = self._connections[:1]
        return Lane(
            connections, perform, name="parley-writer", most=_LARGEST_BATCH, capacity=_CAPACITY
        )

    def near(self) -> Connection:
        """Give the connection for what is read at once, in the event loop itself."""
        return self._connections[-1]

    def readers(self) -> Lane:
        """Start the threads that read."""
        perform = reading(self._path)
        connections = self._connections[1:-1]
        return Lane(connections, perform, name="parley-reader", most=1, capacity=_CAPACITY)
