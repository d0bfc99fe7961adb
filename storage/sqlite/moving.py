"""The mark of a file whose installation has moved to another database: no server opens it again.

It is a row of the settings, so it lasts as the file does, and is written in one transaction.
"""

from __future__ import annotations

import sqlite3

from msgspec import MsgspecError, Struct, json

from agent_core.thread.events import Millis
from storage.errors import StoreMoved

MOVED = "moved"
"""The name of the row."""

_READ = "SELECT value FROM settings WHERE name = ?"
_WRITE = "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"
_ERASE = "DELETE FROM settings WHERE name = ?"


class Moved(Struct, frozen=True):
    """Where an installation has gone, and when; no password is in it."""

    to: str
    at: Millis
    token: str = ""
    """The other side has the same: names can lead to another database by now."""


def moved(connection: sqlite3.Connection) -> Moved | None:
    """Read the mark, if there is one."""
    row = connection.execute(_READ, (MOVED,)).fetchone()
    if row is None:
        return None
    try:
        return json.decode(row[0], type=Moved)
    except MsgspecError:  # whatever it says, somebody meant that nobody should go on here
        return Moved("another database", Millis(0))


def mark(connection: sqlite3.Connection, where: Moved) -> None:
    """Write the mark."""
    connection.execute(_WRITE, (MOVED, json.encode(where).decode()))


def erase_mark(connection: sqlite3.Connection) -> None:
    """Take the mark away."""
    connection.execute(_ERASE, (MOVED,))


def refuse_if_moved(connection: sqlite3.Connection, path: object) -> None:
    """Raise StoreMoved where the mark is."""
    gone = moved(connection)
    if gone is not None:
        raise StoreMoved(
            f"this installation has moved to {gone.to}: set PARLEY_DATABASE_URL to that. If nothing"
            f" has run there and it is to go on here, `parley db reopen sqlite:///{path}`"
        )
