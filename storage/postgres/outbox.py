"""How tries at sending ended: many in one statement, which changes each row once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storage.postgres.driver import Driver
from storage.postgres.statements import END_DELIVERIES
from storage.texts import WrittenEnd


async def end(driver: Driver, ends: Sequence[WrittenEnd]) -> list[bool]:
    """Record tries at sending, each if its lease is still held."""
    ended: list[bool] = []
    for batch in _without_repeats(ends):
        columns = list(zip(*batch, strict=True))
        done = await driver.fetch(END_DELIVERIES, *columns, again=True)
        names = {(row["thread"], row["id"]) for row in done}
        ended += [each[:2] in names for each in batch]
    return ended


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
