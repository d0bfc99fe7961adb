"""SQLite: the store for one machine, with nothing to install."""

from storage.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
