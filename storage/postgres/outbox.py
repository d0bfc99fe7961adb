"""How tries at sending ended: many in one statement, which changes each row once; what failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_core.thread.events import Millis
from storage.postgres import rows
from storage.postgres.driver import Driver
from storage.postgres.statements import END_DELIVERIES, FAILED_DELIVERIES, REQUEUE_DELIVERIES
from storage.texts import WrittenEnd, is_storable
from storage.values import Delivery, FailedWish


async def end(driver: Driver, ends: Sequence[WrittenEnd]) -> list[bool]:
    """Record tries at sending, each if its lease is still held."""
    ended: list[bool] = []
    for batch in _without_repeats(ends):
        columns = list(zip(*batch, strict=True))
        done = await driver.fetch(END_DELIVERIES, *columns, again=True)
        names = {(row["thread"], row["id"]) for row in done}
        ended += [each[:2] in names for each in batch]
    return ended


async def failed(driver: Driver, wish: FailedWish) -> list[Delivery]:
    """List what could not be sent, in the order of writing."""
    if not is_storable(wish.prefix + wish.address + wish.thread):
        return []
    found = await driver.fetch(FAILED_DELIVERIES, *_wished(wish), again=True)
    return [rows.delivery(row) for row in found]


async def requeue(driver: Driver, wish: FailedWish, now: Millis) -> int:
    """Put it back; `n` stays, and with it the order."""
    if not is_storable(wish.prefix + wish.address + wish.thread):
        return 0
    [row] = await driver.fetch(REQUEUE_DELIVERIES, *_wished(wish), now, again=True)
    return int(row["back"])


def _wished(wish: FailedWish) -> tuple[str, str, str, Millis | None, int]:
    return (wish.prefix, wish.address, wish.thread, wish.since, wish.limit)


def _without_repeats(ends: Sequence[WrittenEnd]) -> Iterator[list[WrittenEnd]]:
    """Split where a delivery comes again: a statement changes a row once."""
    batch: dict[tuple[str, str], WrittenEnd] = {}
    for end in ends:
        if end[:2] in batch:
            yield list(batch.values())
            batch = {}
        batch[end[:2]] = end
    if batch:
        yield list(batch.values())
