"""The way of a copy: table by table, compare and put right, until nothing differs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from agent_core.thread.events import Millis
from storage.copying.groups import Groups
from storage.copying.plans import Key, Plan, plans
from storage.copying.source import Source
from storage.copying.target import Target
from storage.errors import StoreError, StoreMoved
from storage.sqlite.moving import Moved

_AT_ONCE = 5_000
_BATCH_BYTES = 4_000_000
_TRIES = 3
"""The source stands still: what differs after being put right twice is another's doing."""

Tell: TypeAlias = Callable[[str, int, int], None]
"""Told how far a table is: its name, the rows that are done, and how many they will be."""


class Copied(Struct, frozen=True, kw_only=True):
    """A table as it is in the source; after `to_end`, in the target as well."""

    table: str
    rows: int
    digest: str
    written: int
    """How many rows had to be written for that, this time."""


class Copying:
    """From one source into one target."""

    def __init__(
        self, source: Source, target: Target, tell: Tell, *, at_once: int = _AT_ONCE
    ) -> None:
        """Name both sides, who is told of the progress, and how many rows make a transaction."""
        self._source = source
        self._target = target
        self._tell = tell
        self._at_once = at_once

    async def ahead(self) -> list[Copied]:
        """Take over what is there now, while a server goes on writing; nothing is proven yet."""
        if not await self._begin():
            return []
        return [await self._taken_over(plan) for plan in plans()]

    async def to_end(self, *, now: Millis) -> list[Copied]:
        """Take over the rest, prove that both sides are the same, and change sides.

        Nothing, if that was done before. The source is marked before the target is opened: killed
        in between, neither can be used until this is run again.
        """
        if not await self._begin():
            return []
        done = [await self._proven(plan) for plan in plans()]
        where = self._source.moved or Moved(self._target.name, now, secrets.token_hex(16))
        self._source.mark(where)
        await self._target.open_up(where.token)
        return done

    async def _begin(self) -> bool:
        """Tell whether there is something to do; raises if it may not be done."""
        gone = self._source.moved
        if gone is not None and await self._target.is_filled(gone.token):
            return False
        if gone is not None and not (gone.to == self._target.name and await self._target.is_half()):
            raise StoreMoved(
                f"this installation has moved to {gone.to} already, and may be at work there: copy "
                "that database with PostgreSQL's own tools"
            )
        await self._target.begin()
        return True

    async def _taken_over(self, plan: Plan) -> Copied:
        here = self._source.groups(plan)
        written = await self._put_right(plan, here, await self._target.groups(plan))
        return _copied(plan, here, written)

    async def _proven(self, plan: Plan) -> Copied:
        here, written = self._source.groups(plan), 0
        for _ in range(_TRIES):
            there = await self._target.groups(plan)
            if (here.rows, here.digest) == (there.rows, there.digest):
                self._tell(plan.table, here.rows, here.rows)
                return _copied(plan, here, written)
            written += await self._put_right(plan, here, there)
        raise StoreError(
            f"{plan.table} is not the same on both sides, though it was put right {_TRIES} times: "
            "somebody else writes to the target"
        )

    async def _put_right(self, plan: Plan, here: Groups, there: Groups) -> int:
        """Replace the groups that differ; gives how many rows were written.

        All that is not to stay goes first: what is unique may have passed from one row to another.
        """
        difference = here.missing_in(there)
        await self._target.delete(plan, difference.gone)
        alike = here.rows - sum(here[key].rows for key in difference.wanted)
        written = 0
        for rows in self._batches(plan, difference.wanted):
            await self._target.insert(plan, rows)
            written += len(rows)
            self._tell(plan.table, alike + written, here.rows)
        return written

    def _batches(self, plan: Plan, wanted: list[Key]) -> Iterator[list[tuple[object, ...]]]:
        """Read groups until there are enough for one transaction."""
        batch: list[tuple[object, ...]] = []
        size = 0
        for key in wanted:
            for row in self._source.rows(plan, key):
                batch.append(row)
                size += sum(len(value) for value in row if isinstance(value, str | bytes))
            if len(batch) >= self._at_once or size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def _copied(plan: Plan, here: Groups, written: int) -> Copied:
    return Copied(table=plan.table, rows=here.rows, digest=here.digest, written=written)
