"""The sender's statements: leases on deliveries, in order within a thread and address."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from agent_core.thread.events import Millis, ThreadId
from storage.sqlite.places import bind_if_free
from storage.texts import WrittenEnd, read_object
from storage.values import Delivery, FailedWish

_COLUMNS = """
id, thread, seq, address, body, question, status, due_at, lease_until, epoch, attempts, receipt,
error
"""
_CLAIM = f"""
UPDATE deliveries SET lease_until = :until, epoch = epoch + 1, attempts = attempts + 1
WHERE n IN (
    SELECT n FROM deliveries AS later
    WHERE status = 'pending' AND due_at <= :now AND (lease_until IS NULL OR lease_until <= :now)
      AND NOT EXISTS (
          SELECT 1 FROM deliveries AS earlier
          WHERE earlier.status = 'pending' AND earlier.thread = later.thread
            AND earlier.address = later.address AND earlier.n < later.n
      )
    ORDER BY due_at, n LIMIT :limit
)
RETURNING n, {_COLUMNS}
"""
_ANY_DUE = """
SELECT 1 FROM deliveries
WHERE status = 'pending' AND due_at <= ?1 AND (lease_until IS NULL OR lease_until <= ?1) LIMIT 1
"""
_END = """
UPDATE deliveries SET
    status = :status, lease_until = NULL,
    due_at = CASE :status WHEN 'pending' THEN coalesce(:due_at, due_at)
                          WHEN 'failed' THEN :due_at END,
    receipt = coalesce(:receipt, receipt), error = :error, attempts = attempts - :untried
WHERE thread = :thread AND id = :id AND epoch = :epoch
  AND (lease_until IS NOT NULL OR (status = 'sent' AND :status IN ('settled', 'failed')))
"""
_OF_THREAD = f"SELECT n, {_COLUMNS} FROM deliveries WHERE thread = ? ORDER BY n"
_WISHED = """
status = 'failed' AND substr(address, 1, length(:prefix)) = :prefix
  AND (:address = '' OR address = :address) AND (:thread = '' OR thread = :thread)
  AND (:since IS NULL OR due_at >= :since)
ORDER BY n LIMIT :limit
"""
_FAILED = f"SELECT n, {_COLUMNS} FROM deliveries INDEXED BY deliveries_failed WHERE {_WISHED}"
_REQUEUE = f"""
UPDATE deliveries SET status = 'pending', due_at = :now, attempts = 0, error = ''
WHERE n IN (SELECT n FROM deliveries INDEXED BY deliveries_failed WHERE {_WISHED})
"""


def claim(connection: sqlite3.Connection, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
    """Lease what is due, the first of each thread and address, longest due first."""
    values = {"now": now, "until": now + lease_ms, "limit": limit}
    rows = connection.execute(_CLAIM, values).fetchall()
    rows.sort(key=lambda row: (row[8], row[0]))
    return [_delivery(row) for row in rows]


def any_due(connection: sqlite3.Connection, now: Millis) -> bool:
    """Tell whether a claim would find something; one that has to wait for another may be it."""
    return connection.execute(_ANY_DUE, (now,)).fetchone() is not None


def end(connection: sqlite3.Connection, ends: Sequence[WrittenEnd]) -> list[bool]:
    """Record tries at sending, each if its lease is still held."""
    return [_end(connection, each) for each in ends]


def _end(connection: sqlite3.Connection, end: WrittenEnd) -> bool:
    is_held = connection.execute(_END, _ending(end)).rowcount > 0
    if is_held and end.place:
        bind_if_free(connection, end)
    return is_held


def _ending(end: WrittenEnd) -> dict[str, str | int | None]:
    return {
        "thread": end.thread,
        "id": end.id,
        "epoch": end.epoch,
        "status": end.status,
        "due_at": end.due_at,
        "receipt": end.receipt,
        "error": end.error,
        "untried": end.untried,
    }


def of_thread(connection: sqlite3.Connection, thread: ThreadId) -> list[Delivery]:
    """Give a thread's deliveries, in the order of writing."""
    return [_delivery(row) for row in connection.execute(_OF_THREAD, (thread,)).fetchall()]


def failed(connection: sqlite3.Connection, wish: FailedWish) -> list[Delivery]:
    """List what could not be sent, in the order of writing."""
    return [_delivery(row) for row in connection.execute(_FAILED, _wished(wish)).fetchall()]


def requeue(connection: sqlite3.Connection, wish: FailedWish, now: Millis) -> int:
    """Put it back; `n` stays, and with it the order."""
    return connection.execute(_REQUEUE, {**_wished(wish), "now": now}).rowcount


def _wished(wish: FailedWish) -> dict[str, str | int | None]:
    return {
        "prefix": wish.prefix,
        "address": wish.address,
        "thread": wish.thread,
        "since": wish.since,
        "limit": wish.limit,
    }


def _delivery(row: Any) -> Delivery:  # noqa: ANN401 (a row of the database, in our own order)
    return Delivery(
        id=row[1],
        thread=row[2],
        seq=row[3],
        address=row[4],
        body=read_object(row[5]),
        question=row[6],
        status=row[7],
        due_at=row[8],
        lease_until=row[9],
        epoch=row[10],
        attempts=row[11],
        receipt=None if row[12] is None else read_object(row[12]),
        error=row[13],
    )
