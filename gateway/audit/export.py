"""Writing the audit out: every thread, oldest id first, those purged, and a sealed end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from agent_core.thread.events import Millis, ThreadId
from gateway.audit.beginning import begun
from gateway.audit.entries import Entry, entries, iso
from gateway.audit.paper import Head, Paper
from gateway.audit.tombstones import purged_entry
from gateway.control.service import NotFound
from storage.retention import Tombstone
from storage.sealed import SealedLog
from storage.seals import Seal
from storage.store import Store

_PAGE = 20


@dataclass
class Export:
    """One export: of everything, of one thread, or of what came since a moment."""

    store: Store
    seal: Seal
    now: Millis
    thread: str = ""
    since: Millis | None = None
    _threads: int = 0
    _paper: Paper = field(default_factory=Paper)

    async def lines(self) -> AsyncIterator[bytes]:
        """Give the lines, a thread's at a time."""
        since = await begun(self.store, self.seal, now=self.now)
        earliest = "" if self.since is None else iso(self.since)
        async for told in self._told():
            shown = [entry for entry in told if entry.at >= earliest]
            self._threads += bool(shown)
            yield b"".join(map(self._paper.line, shown))
        head = Head(
            at=iso(self.now),
            begun="" if since is None else iso(since),
            thread=self.thread,
            since=earliest,
            threads=self._threads,
            lines=self._paper.lines,
        )
        yield self._paper.head(head, self.seal)

    async def _told(self) -> AsyncIterator[Iterable[Entry]]:
        if self.thread:
            yield await self._of_one(ThreadId(self.thread))
            return
        async for log in every_log(self.store):
            yield entries(log, self.seal)
        async for stone in every_tombstone(self.store):
            yield [purged_entry(stone)]

    async def _of_one(self, thread: ThreadId) -> Iterable[Entry]:
        if (log := await self.store.audit().log(thread)) is not None:
            return entries(log, self.seal)
        if (stone := await self.store.retention().tombstone(thread)) is not None:
            return [purged_entry(stone)]
        raise NotFound(f"there is no thread {self.thread!r}")


async def every_log(store: Store) -> AsyncIterator[SealedLog]:
    """Give every thread, a few at a time."""
    last = ""
    while page := await store.audit().logs(after=last, limit=_PAGE):
        for log in page:
            yield log
        last = page[-1].thread


async def every_tombstone(store: Store) -> AsyncIterator[Tombstone]:
    """Give what is left of every thread that was purged."""
    last = ""
    while page := await store.retention().tombstones(after=last):
        for stone in page:
            yield stone
        last = page[-1].thread
