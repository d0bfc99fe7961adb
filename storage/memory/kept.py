"""What the twin keeps for others; and forgetting what has expired, there and in the inbox."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

from agent_core.thread.events import Millis
from storage.memory.tables import MemoryTables
from storage.texts import check_names, check_text

Name = TypeVar("Name")
Value = TypeVar("Value")


def recall(tables: MemoryTables, owner: str, key: str, now: Millis) -> bytes | None:
    """Give what was kept."""
    value, expires_at = tables.kept.get((owner, key), (None, None))
    return None if is_over(expires_at, now) else value


def keep(
    tables: MemoryTables,
    owner: str,
    key: str,
    value: bytes | None,
    *,
    now: Millis,
    expires_at: Millis | None,
) -> None:
    """Keep it, or forget it."""
    check_text(owner, "owner")
    check_text(key, "key")
    check_names("key", key, owner)
    if value is None or is_over(expires_at, now):
        tables.kept.pop((owner, key), None)
    else:
        tables.kept[owner, key] = (value, expires_at)


def take(tables: MemoryTables, owner: str, key: str, now: Millis) -> bytes | None:
    """Give it, and forget it."""
    value = recall(tables, owner, key, now)
    if value is not None:
        del tables.kept[owner, key]
    return value


def keys(tables: MemoryTables, owner: str, prefix: str, now: Millis) -> list[str]:
    """Give the keys of an owner, in order."""
    return sorted(
        key
        for (whose, key), (_, expires_at) in tables.kept.items()
        if whose == owner and key.startswith(prefix) and not is_over(expires_at, now)
    )


def sweep(tables: MemoryTables, now: Millis, limit: int) -> int:
    """Forget what has expired."""
    gone = _swept(tables.inbox, now, limit)
    return gone + _swept(tables.kept, now, limit - gone)


def _swept(rows: dict[Name, tuple[Value, Millis | None]], now: Millis, limit: int) -> int:
    over = (name for name, (_, expires_at) in rows.items() if is_over(expires_at, now))
    gone = list(islice(over, limit))
    for name in gone:
        del rows[name]
    return len(gone)


def is_over(expires_at: Millis | None, now: Millis) -> bool:
    """Tell whether its time has come."""
    return expires_at is not None and expires_at <= now
