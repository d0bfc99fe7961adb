"""Archiving: threads that ended long ago go into files, and only then are they purged.

A batch at a time: read, written, flushed to the disk, read back; then each thread is purged if it
is still as it was read. Killed in between, nothing is lost: what was not purged yet is archived
once more. A thread whose seal does not fit stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from gateway.retention.archive_files import write_archive
from gateway.retention.purging import Purging, Which
from storage.sealed import SealedLog
from storage.seals import Seal, fault
from storage.store import Store

_AT_ONCE = 500
_BYTES_AT_ONCE = 16_000_000


class Outcome(NamedTuple):
    """What became of a thread."""

    thread: str
    file: str
    """Where it is now; empty if it stays."""
    why: str = ""
    """Why it stays."""


class Archiving:
    """Moves threads from a store into files of a folder."""

    def __init__(self, store: Store, seal: Seal, purging: Purging, folder: Path) -> None:
        """Take what purges, and where the files go."""
        self._store = store
        self._seal = seal
        self._purging = purging
        self._folder = folder

    async def archive_all(self, which: Which, *, by: str) -> AsyncIterator[Outcome]:
        """Archive them, and tell of each."""
        batch: list[SealedLog] = []
        async for one in self._purging.candidates(which):
            log = await self._store.audit().log(one.thread)
            if log is None:
                continue
            if wrong := fault(self._seal, log):
                yield Outcome(one.thread, "", wrong)
                continue
            batch.append(log)
            if len(batch) >= _AT_ONCE or _size(batch) >= _BYTES_AT_ONCE:
                async for outcome in self._archive(batch, by):
                    yield outcome
                batch = []
        async for outcome in self._archive(batch, by):
            yield outcome

    async def _archive(self, batch: list[SealedLog], by: str) -> AsyncIterator[Outcome]:
        if not batch:
            return
        path = await asyncio.to_thread(write_archive, self._folder, batch)
        for log in batch:
            if await self._purging.purge_read(log, by=f"{by}, archived in {path.name}"):
                yield Outcome(log.thread, path.name)
            else:
                yield Outcome(log.thread, "", "it has moved on since it was read")


def _size(batch: list[SealedLog]) -> int:
    return sum(len(event.body) for log in batch for event in log.events)
