"""One server per file: a lock beside the database that the kernel lifts however we end.

SQLite's own locks would let two servers take turns; then each would miss the other's wake-ups, and
nobody would notice. The lock is a file of its own because closing any second handle of a database
file drops the locks that SQLite holds on it (POSIX).
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from storage.errors import StoreError, StoreInUse, StoreReadOnly


class FileLock:
    """A lock that one process at a time can have."""

    def __init__(self, path: Path) -> None:
        """Name the database that is to be locked."""
        self._path = path
        self._handle: int | None = None

    def take(self) -> None:
        """Take the lock, or raise StoreInUse with the process that has it."""
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            owner = os.pread(handle, 20, 0).decode(errors="replace").strip()
            os.close(handle)
            raise StoreInUse(
                f"another Parley (process {owner or '?'}) works on {self._path}: "
                "one server is the limit on SQLite; several need PostgreSQL"
            ) from exc
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle

    def give_back(self) -> None:
        """Let others have it; the empty file stays, since removing it would race."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        lock = f"{self._path}-lock"
        try:
            return os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except PermissionError as exc:
            raise StoreReadOnly(f"no permission to write {lock}") from exc
        except FileNotFoundError as exc:
            raise StoreError(
                f"there is no folder {self._path.parent} for {self._path.name}"
            ) from exc
        except OSError as exc:
            if self._path.parent.is_dir() and not os.access(self._path.parent, os.W_OK):
                raise StoreReadOnly(f"no permission to write {lock}") from exc
            raise StoreError(f"can't lock {self._path}: {exc}") from exc
