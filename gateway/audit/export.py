"""Writing the audit out: every thread, oldest id first, and a sealed end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from agent_core.thread.events import Millis, ThreadId
from agent_core.thread.times import as_datetime
from gateway.audit.beginning import begun
from gateway.audit.entries import entries
from gateway.audit.paper import Head, Paper
from gateway.control.service import NotFound
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
        async for log in self._logs():
            shown = [entry for entry in entries(log) if entry.at >= earliest]
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

    async def _logs(self) -> AsyncIterator[SealedLog]:
        if not self.thread:
            async for log in every_log(self.store):
                yield log
            return
        found = await self.store.audit().log(ThreadId(self.thread))
        if found is None:
            raise NotFound(f"there is no thread {self.thread!r}")
        yield found


async def every_log(store: Store) -> AsyncIterator[SealedLog]:
    """Give every thread, a few at a time."""
    last = ""
    while page := await store.audit().logs(after=last, limit=_PAGE):
        for log in page:
            yield log
        last = page[-1].thread


def iso(moment: Millis) -> str:
    """Write a moment as the entries do."""
    return as_datetime(moment).isoformat(timespec="milliseconds").replace("+00:00", "Z")
