"""What an audit reads of the twin's tables."""

from __future__ import annotations

from agent_core.thread.events import ThreadId
from storage.memory.tables import MemoryTables
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.texts import object_text
from storage.values import Delivery


class MemoryAudit:
    """The tables, as they stand."""

    def __init__(self, tables: MemoryTables) -> None:
        """Read these tables."""
        self._tables = tables

    async def logs(self, *, after: str = "", limit: int = 20) -> list[SealedLog]:
        """Give whole threads, in the order of their ids."""
        names = sorted(name for name in self._tables.threads if name > after)
        return [self._log(name) for name in names[:limit]]

    async def log(self, thread: ThreadId) -> SealedLog | None:
        """Give one thread."""
        return self._log(thread) if thread in self._tables.threads else None

    async def strays(self, *, limit: int = 10) -> list[str]:
        """Name threads without a row."""
        written = {*self._tables.events, *(thread for thread, _ in self._tables.deliveries)}
        return [str(name) for name in sorted(written - {*self._tables.threads})[:limit]]

    async def begin(self, log: SealedLog, chain: bytes) -> bool:
        """Give a thread its chain, if it is as it was read."""
        if await self.log(log.thread) != log:
            return False
        self._tables.chains[log.thread] = chain
        return True

    def _log(self, thread: ThreadId) -> SealedLog:
        tables = self._tables
        said = [row for row in tables.deliveries.values() if row.thread == thread]
        said.sort(key=lambda row: row.seq)  # of the same event, the first written
        return SealedLog(
            thread=thread,
            seq=tables.threads[thread].seq,
            updated_at=tables.threads[thread].updated_at,
            chain=tables.chains.get(thread),
            events=[
                KeptEvent(seq, text.encode())
                for seq, text in enumerate(tables.events.get(thread, ()), start=1)
            ],
            deliveries=[_kept(row) for row in said],
        )


def _kept(row: Delivery) -> KeptDelivery:
    body = object_text(row.body, "delivery").encode()
    return KeptDelivery(row.seq, row.id, row.address, row.question, body, row.status)
