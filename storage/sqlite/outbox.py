"""The sender's statements: leases on deliveries, in order within a thread and address."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_core.thread.events import Millis, ThreadId
from storage.texts import read_object
from storage.values import Delivery, DeliveryStatus

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
_END = """
UPDATE deliveries SET
    status = :status, lease_until = NULL,
    due_at = CASE WHEN :status = 'pending' THEN coalesce(:due_at, due_at) END,
    receipt = coalesce(:receipt, receipt), error = :error
WHERE id = :id AND epoch = :epoch
  AND (lease_until IS NOT NULL OR (status = 'sent' AND :status = 'settled'))
"""
_OF_THREAD = f"SELECT n, {_COLUMNS} FROM deliveries WHERE thread = ? ORDER BY n"


def claim(connection: sqlite3.Connection, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
    """Lease what is due, the first of each thread and address, longest due first."""
    values = {"now": now, "until": now + lease_ms, "limit": limit}
    rows = connection.execute(_CLAIM, values).fetchall()
    rows.sort(key=lambda row: (row[8], row[0]))
    return [_delivery(row) for row in rows]


def end(
    connection: sqlite3.Connection,
    delivery: Delivery,
    status: DeliveryStatus,
    *,
    due_at: Millis | None,
    receipt: str | None,
    error: str,
) -> bool:
    """Record a try at sending, if the lease is still held."""
    values = {
        "id": delivery.id,
        "epoch": delivery.epoch,
        "status": status,
        "due_at": due_at,
        "receipt": receipt,
        "error": error,
    }
    return connection.execute(_END, values).rowcount > 0


def of_thread(connection: sqlite3.Connection, thread: ThreadId) -> list[Delivery]:
    """Give a thread's deliveries, in the order of writing."""
    return [_delivery(row) for row in connection.execute(_OF_THREAD, (thread,)).fetchall()]


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
