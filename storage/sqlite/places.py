"""Places: which thread an address belongs to. Once bound, it stays so."""

from __future__ import annotations

import sqlite3

from agent_core.thread.events import ThreadId
from storage.errors import PlaceTaken
from storage.texts import Written, WrittenEnd
from storage.values import Commit

_BIND = """
INSERT INTO places (address, thread, since) VALUES (?, ?, ?) ON CONFLICT (address) DO NOTHING
"""


def bind(connection: sqlite3.Connection, commit: Commit, texts: Written) -> None:
    """Make places the commit's thread's, or raise PlaceTaken."""
    for place in texts.places:
        bound = connection.execute(_BIND, (place, commit.thread, commit.now)).rowcount
        if not bound and thread_at(connection, place) != commit.thread:
            raise PlaceTaken(f"another thread has the place {place!r}")


def bind_if_free(connection: sqlite3.Connection, end: WrittenEnd) -> None:
    """Make a place the delivery's thread's, unless somebody has it."""
    connection.execute(_BIND, (end.place, end.thread, end.since))


def thread_at(connection: sqlite3.Connection, place: str) -> ThreadId | None:
    """Find the thread of a place."""
    row = connection.execute("SELECT thread FROM places WHERE address = ?", (place,)).fetchone()
    return None if row is None else ThreadId(row[0])
