"""The engine's statements: leases on threads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from agent_core.thread.events import Millis, ThreadId
from storage.values import Claim

_CLAIM = """
UPDATE threads SET epoch = epoch + 1, lease_until = :until
WHERE id IN (
    SELECT id FROM threads
    WHERE wake_at IS NOT NULL AND wake_at <= :now
      AND (lease_until IS NULL OR lease_until <= :now)
      AND id NOT IN (SELECT value FROM json_each(:leave))
    ORDER BY wake_at LIMIT :limit
)
RETURNING wake_at, id, epoch, seq
"""
_ANY_DUE = """
SELECT 1 FROM threads
WHERE wake_at IS NOT NULL AND wake_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1) LIMIT 1
"""
_RENEW = """
UPDATE threads SET lease_until = ? WHERE id = ? AND epoch = ? AND lease_until IS NOT NULL
RETURNING seq
"""
_RELEASE = """
UPDATE threads SET
    lease_until = NULL, handled_seq = :handled,
    wake_at = CASE WHEN seq > :handled THEN updated_at ELSE :wake_at END
WHERE id = :thread AND epoch = :epoch AND lease_until IS NOT NULL
RETURNING seq
"""
_QUEUED = """
SELECT count(*) FROM threads
WHERE wake_at IS NOT NULL AND wake_at <= :now AND (lease_until IS NULL OR lease_until <= :now)
"""


def claim(
    connection: sqlite3.Connection,
    now: Millis,
    lease_ms: int,
    limit: int,
    leave: Collection[ThreadId],
) -> list[Claim]:
    """Lease due threads, longest due first."""
    left = json.dumps(list(leave))
    values = {"now": now, "until": now + lease_ms, "limit": limit, "leave": left}
    rows = sorted(connection.execute(_CLAIM, values).fetchall())
    return [Claim(ThreadId(thread), epoch, seq) for _, thread, epoch, seq in rows]


def any_due(connection: sqlite3.Connection, now: Millis) -> bool:
    """Tell whether a claim would find something."""
    return connection.execute(_ANY_DUE, (now,)).fetchone() is not None


def renew(
    connection: sqlite3.Connection, claims: Sequence[Claim], now: Millis, lease_ms: int
) -> list[Claim]:
    """Prolong the leases that are still held."""
    held = []
    for each in claims:
        values = (now + lease_ms, each.thread, each.epoch)
        row = connection.execute(_RENEW, values).fetchone()
        if row is not None:
            held.append(Claim(each.thread, each.epoch, row[0]))
    return held


def release(
    connection: sqlite3.Connection, claim: Claim, handled_seq: int, wake_at: Millis | None
) -> int:
    """Give a lease back; gives the last event if there is news, so that the thread is due."""
    values = {
        "thread": claim.thread,
        "epoch": claim.epoch,
        "handled": handled_seq,
        "wake_at": wake_at,
    }
    row = connection.execute(_RELEASE, values).fetchone()
    return int(row[0]) if row is not None and row[0] > handled_seq else 0


def forget_all(connection: sqlite3.Connection) -> None:
    """Free every lease: whoever had the file before has it no more, and so is dead."""
    for table in ("threads", "deliveries"):
        connection.execute(f"UPDATE {table} SET lease_until = NULL WHERE lease_until IS NOT NULL")


def queued(connection: sqlite3.Connection, now: Millis) -> int:
    """Count the threads that are due and free."""
    return int(connection.execute(_QUEUED, {"now": now}).fetchone()[0])
