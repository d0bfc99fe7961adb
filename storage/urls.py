"""The one place that picks a store: by its URL.

Each adapter is imported when it is chosen: a server on SQLite never pays for PostgreSQL's driver.
"""

from __future__ import annotations

from storage.locations import File, Memory, Server, locate
from storage.seals import Seal
from storage.store import Store


def open_store(url: str, *, shared: bool = False, seal: Seal | None = None) -> Store:
    """Give the store that a URL names, for `await store.open()`; or raise BadStoreUrl.

    `shared` is for a command that does one thing beside a running server. With a `seal` every
    thread carries a chain that makes changes visible; without, nothing is sealed.
    """
    match locate(url):
        case File(path):
            from storage.sqlite import SqliteStore  # noqa: PLC0415

            return SqliteStore(path, shared=shared, seal=seal)
        case Server(address):
            from storage.postgres import PostgresStore  # noqa: PLC0415

            return PostgresStore(address, seal=seal)
        case Memory():
            from storage.memory import MemoryStore  # noqa: PLC0415

            return MemoryStore(seal=seal)
