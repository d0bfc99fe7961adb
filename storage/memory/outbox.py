"""The twin's outbox: what is due to be sent, and what became of it."""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from agent_core.thread.events import Millis, ThreadId
from storage.memory.lists import is_due
from storage.memory.tables import MemoryTables, own_delivery
from storage.texts import WrittenEnd, read_object
from storage.values import Delivery, DeliveryStatus, FailedWish


def claim(tables: MemoryTables, now: Millis, lease_ms: int, limit: int) -> list[Delivery]:
    """Lease what is due, the first of each thread and address."""
    heads: dict[tuple[str, str], Delivery] = {}
    for row in tables.deliveries.values():
        if row.status == "pending":
            heads.setdefault((row.thread, row.address), row)
    due = [row for row in heads.values() if is_due(row.due_at, row.lease_until, now)]
    due.sort(key=lambda row: row.due_at or 0)  # of the same time, the first written
    until = Millis(now + lease_ms)
    for row in due[:limit]:
        tables.deliveries[row.thread, row.id] = replace(
            row, lease_until=until, epoch=row.epoch + 1, attempts=row.attempts + 1
        )
    return [own_delivery(tables.deliveries[row.thread, row.id]) for row in due[:limit]]


def end(tables: MemoryTables, given: WrittenEnd) -> bool:
    """Record a try at sending, if its lease is still held."""
    row = tables.deliveries.get((given.thread, given.id))
    if row is None or row.epoch != given.epoch or not _may_end(row, given.status):
        return False
    tables.deliveries[row.thread, row.id] = replace(
        row,
        status=given.status,
        lease_until=None,
        due_at=_due(row, given),
        receipt=row.receipt if given.receipt is None else read_object(given.receipt),
        error=given.error,
        attempts=row.attempts - given.untried,
    )
    if given.place:
        tables.places.setdefault(given.place, (row.thread, given.since))
    return True


def of_thread(tables: MemoryTables, thread: ThreadId) -> list[Delivery]:
    """Give a thread's deliveries, in order."""
    return [own_delivery(row) for row in tables.deliveries.values() if row.thread == thread]


def failed(tables: MemoryTables, wish: FailedWish) -> list[Delivery]:
    """List what could not be sent, in the order of writing."""
    found = (row for row in tables.deliveries.values() if _has_failed(row, wish))
    return [own_delivery(row) for row in islice(found, wish.limit)]


def requeue(tables: MemoryTables, wish: FailedWish, now: Millis) -> int:
    """Put it back as if it had never been tried; its place stays, and with it the order."""
    rows = failed(tables, wish)
    for row in rows:
        tables.deliveries[row.thread, row.id] = replace(
            row, status="pending", due_at=now, attempts=0, error=""
        )
    return len(rows)


def _has_failed(row: Delivery, wish: FailedWish) -> bool:
    return (
        row.status == "failed"
        and row.address.startswith(wish.prefix)
        and wish.address in ("", row.address)
        and wish.thread in ("", row.thread)
        and (wish.since is None or (row.due_at is not None and row.due_at >= wish.since))
    )


def _due(row: Delivery, end: WrittenEnd) -> Millis | None:
    """Keep when it is to be sent, or when it failed."""
    if end.status == "pending":
        return end.due_at or row.due_at
    return end.due_at if end.status == "failed" else None


def _may_end(row: Delivery, status: DeliveryStatus) -> bool:
    return row.lease_until is not None or (row.status == "sent" and status in {"settled", "failed"})
