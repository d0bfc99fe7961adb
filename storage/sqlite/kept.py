"""What is kept for others; and forgetting what has expired, there and in the inbox."""

from __future__ import annotations

import sqlite3

from agent_core.thread.events import Millis
from storage.texts import after_prefix

_LASTS = "(expires_at IS NULL OR expires_at > :now)"
_RECALL = f"SELECT value FROM kept WHERE owner = :owner AND key = :key AND {_LASTS}"
_KEEP = """
INSERT INTO kept (owner, key, value, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (owner, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
"""
_TAKE = f"DELETE FROM kept WHERE owner = :owner AND key = :key AND {_LASTS} RETURNING value"
_KEYS = f"SELECT key FROM kept WHERE owner = :owner AND {_LASTS} ORDER BY key"
_KEYS_FROM = f"""
SELECT key FROM kept WHERE owner = :owner AND key >= :prefix AND key < :end AND {_LASTS}
ORDER BY key
"""
_SWEEP = """
DELETE FROM {table} WHERE ({name}) IN (
    SELECT {name} FROM {table} WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?
)
"""
_NAMES = {"inbox": "source, key", "kept": "owner, key"}


def recall(connection: sqlite3.Connection, owner: str, key: str, now: Millis) -> bytes | None:
    """Give what was kept."""
    values = {"owner": owner, "key": key, "now": now}
    return _value(connection.execute(_RECALL, values).fetchone())


def keep(
    connection: sqlite3.Connection,
    owner: str,
    key: str,
    value: bytes | None,
    *,
    now: Millis,
    expires_at: Millis | None,
) -> None:
    """Keep it, or forget it."""
    if value is None or (expires_at is not None and expires_at <= now):
        connection.execute("DELETE FROM kept WHERE owner = ? AND key = ?", (owner, key))
    else:
        connection.execute(_KEEP, (owner, key, value, expires_at))


def take(connection: sqlite3.Connection, owner: str, key: str, now: Millis) -> bytes | None:
    """Give it, and forget it."""
    values = {"owner": owner, "key": key, "now": now}
    return _value(connection.execute(_TAKE, values).fetchone())


def keys(connection: sqlite3.Connection, owner: str, prefix: str, now: Millis) -> list[str]:
    """Give the keys of an owner, in order."""
    end = after_prefix(prefix)
    values = {"owner": owner, "prefix": prefix, "end": end, "now": now}
    found = connection.execute(_KEYS_FROM if end else _KEYS, values)
    return [str(key) for (key,) in found.fetchall()]


def sweep(connection: sqlite3.Connection, now: Millis, limit: int) -> int:
    """Forget what has expired."""
    gone = 0
    for table, name in _NAMES.items():
        sweeping = _SWEEP.format(table=table, name=name)
        gone += connection.execute(sweeping, (now, limit - gone)).rowcount
    return gone


def _value(row: tuple[bytes] | None) -> bytes | None:
    return None if row is None else row[0]
