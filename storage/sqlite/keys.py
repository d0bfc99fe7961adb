"""API keys, and what holds for all: the kill switch."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_core.thread.events import Millis
from storage.values import ApiKey, KeyId

_COLUMNS = "id, name, hash, scopes, created_at, revoked_at"
_ADD = f"INSERT INTO api_keys ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_SET = """
INSERT INTO settings (name, value) VALUES ('halt', ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


def add(connection: sqlite3.Connection, key: ApiKey) -> bool:
    """Keep a key; False if its id or hash is there."""
    scopes = " ".join(key.scopes)
    row = (key.id, key.name, key.hash, scopes, key.created_at, key.revoked_at)
    return connection.execute(_ADD, row).rowcount > 0


def every(connection: sqlite3.Connection) -> list[ApiKey]:
    """List all keys, oldest first."""
    statement = f"SELECT {_COLUMNS} FROM api_keys ORDER BY created_at, id"
    return [_key(row) for row in connection.execute(statement).fetchall()]


def by_hash(connection: sqlite3.Connection, digest: str) -> ApiKey | None:
    """Find a key that was not revoked."""
    statement = f"SELECT {_COLUMNS} FROM api_keys WHERE hash = ? AND revoked_at IS NULL"
    row = connection.execute(statement, (digest,)).fetchone()
    return None if row is None else _key(row)


def revoke(connection: sqlite3.Connection, key: KeyId, now: Millis) -> bool:
    """Make a key useless."""
    statement = "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    return connection.execute(statement, (now, key)).rowcount > 0


def halted(connection: sqlite3.Connection) -> str:
    """Give the reason of the kill switch."""
    row = connection.execute("SELECT value FROM settings WHERE name = 'halt'").fetchone()
    return "" if row is None else str(row[0])


def set_halt(connection: sqlite3.Connection, reason: str) -> None:
    """Pull or lift the kill switch."""
    connection.execute(_SET, (reason,))


def _key(row: Any) -> ApiKey:  # noqa: ANN401 (a row of the database, in our own order)
    return ApiKey(
        id=row[0],
        name=row[1],
        hash=row[2],
        scopes=tuple(row[3].split()),
        created_at=row[4],
        revoked_at=row[5],
    )
