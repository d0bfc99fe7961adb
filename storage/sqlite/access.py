"""The ways to the file: to write, to read what may be long, and to glance at a row.

Every write goes through the writer's lane and shares its fsync with what came at the same time.
What may be long is read in a lane of its own, and waits for nobody. A row or a few are read at once
in the event loop itself, because to wake a thread up for them costs several times as much; the
price is that a page which is not in memory is waited for there. A commit that was acknowledged is
seen by every read that begins after it, on whichever way.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from storage.errors import StoreUnreachable
from storage.sqlite.batches import Fleeting
from storage.sqlite.lanes import Lane
from storage.sqlite.opened import Opened

T = TypeVar("T")


class Access:
    """A file, from opening it to closing it."""

    def __init__(self, path: Path, *, shared: bool, max_pages: int) -> None:
        """Name the file."""
        self.file = Opened(path, shared=shared, max_pages=max_pages)
        self._writer: Lane | None = None
        self._readers: Lane | None = None
        self._near: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Lock the file, make or migrate its tables, and start the threads."""
        await asyncio.to_thread(self.file.open)
        self._writer = self.file.writer()
        self._readers = self.file.readers()
        self._near = self.file.near()

    async def close(self) -> None:
        """Finish what was accepted, then let go of the file."""
        self._near = None
        for lane in (self._writer, self._readers):
            if lane is not None:
                await lane.close()
        await asyncio.to_thread(self.file.close)

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Do a job that must last."""
        return await _opened(self._writer).do(job)

    async def write_fleeting(
        self, job: Callable[[sqlite3.Connection], T], *, by_and_by: bool = False
    ) -> T:
        """Do a job whose loss in a power cut harms nobody; perhaps not at once."""
        result: T = await _opened(self._writer).do(Fleeting(job), by_and_by=by_and_by)
        return result

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Read what may be long."""
        return await _opened(self._readers).do(job)

    async def glance(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Read a row or a few, by one statement; what stands in the way is left to the readers.

        A statement of its own is a transaction of its own: nothing stays open that would grow old.
        """
        if self._near is not None:
            with suppress(sqlite3.Error):  # locked, say: the readers have patience, and words
                return job(self._near)
        return await self.read(job)


def _opened(lane: Lane | None) -> Lane:
    if lane is None:
        raise StoreUnreachable("the store is closed: it was never opened")
    return lane
