"""Parties: who has a part in which thread, so that people find theirs among all the others."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from agent_core.thread.events import ThreadId
from storage.texts import Written
from storage.values import Commit

_ADD = """
INSERT INTO parties (party, at, thread) SELECT ?, created_at, id FROM threads WHERE id = ?
ON CONFLICT DO NOTHING
"""


def add(connection: sqlite3.Connection, commit: Commit, texts: Written) -> None:
    """Write who has a part in the commit's thread; who has one already keeps it."""
    connection.executemany(_ADD, [(party, commit.thread) for party in texts.parties])


def takes_part(connection: sqlite3.Connection, thread: ThreadId, parties: Sequence[str]) -> bool:
    """Tell whether one of them has a part in it."""
    marks = ", ".join("?" * len(parties))
    statement = f"SELECT 1 FROM parties WHERE thread = ? AND party IN ({marks}) LIMIT 1"
    return connection.execute(statement, (thread, *parties)).fetchone() is not None
