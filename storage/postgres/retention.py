"""Letting go, on PostgreSQL: each thread by one statement, beside all who work."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.thread.events import Millis, ThreadId
from storage.postgres.driver import Driver, Row
from storage.postgres.retention_sql import (
    COPIES,
    ENDED,
    FORGET_COPIES,
    FORGET_KEPT,
    FORGET_PARTIES,
    FORGET_PLACES,
    FORGET_SENDERS,
    MARK,
    PURGE,
    REWRITE,
    TOMBSTONE,
    TOMBSTONES,
)
from storage.retention import (
    ERASED,
    Ended,
    EndedWish,
    Purge,
    Rewrite,
    RewrittenDelivery,
    Tombstone,
)
from storage.seals import Seal, grown
from storage.texts import asked_text, event_text, is_storable, object_text

_STONE = ("thread", "at", "by", "seq", "entries", "chain", "records", "mark")


class PostgresRetention:
    """A database, with less and less in it."""

    def __init__(self, driver: Driver, seal: Seal | None) -> None:
        """Write over these connections; with a `seal`, chains are kept."""
        self._driver = driver
        self._seal = seal

    async def ended(self, wish: EndedWish) -> list[Ended]:
        """List threads that are over."""
        if not is_storable(wish.agent):
            return []
        values = (*wish.after, wish.before, list(wish.statuses), wish.agent, wish.limit)
        found = await self._driver.fetch(ENDED, *values, again=True)
        return [Ended(*(row[name] for name in Ended._fields)) for row in found]

    async def purge(self, purge: Purge) -> list[str] | None:
        """Delete it, and keep its tombstone."""
        stone = [getattr(purge.tombstone, name) for name in _STONE]
        values = (*stone, list(purge.questions), purge.now, purge.updated_at)
        # Not again: after a lost connection, who purges reads the thread again and finds it gone.
        found = await self._driver.fetch(PURGE, *values, again=False)
        return sorted(found[0]["places"]) if found else None

    async def tombstone(self, thread: ThreadId) -> Tombstone | None:
        """Tell what became of a thread."""
        if not is_storable(thread):
            return None
        found = await self._driver.fetch(TOMBSTONE, thread, again=True)
        return _stone(found[0]) if found else None

    async def tombstones(self, *, after: str = "", limit: int = 1000) -> list[Tombstone]:
        """Give them in order."""
        return [
            _stone(row) for row in await self._driver.fetch(TOMBSTONES, after, limit, again=True)
        ]

    async def mark(self, stone: Tombstone) -> None:
        """Give a tombstone another mark."""
        await self._driver.fetch(MARK, stone.thread, stone.mark, again=True)

    async def forget_copies(
        self, after: tuple[str, str] = ("", ""), *, limit: int = 1000
    ) -> tuple[str, str] | None:
        """Forget inbox keys of threads that are gone."""
        found = await self._driver.fetch(COPIES, *after, limit, again=True)
        gone = [(row["source"], row["key"]) for row in found if not row["is_there"]]
        if gone:
            sources, keys = zip(*gone, strict=True)
            await self._driver.fetch(FORGET_COPIES, sources, keys, again=True)
        return (found[-1]["source"], found[-1]["key"]) if found else None

    async def rewrite(self, rewrite: Rewrite) -> bool:
        """Put other words into a thread."""
        text = event_text(rewrite.erased)
        chain = grown(self._seal, rewrite.chain, rewrite.thread, text)
        return bool(await self._driver.fetch(REWRITE, *_values(rewrite, text, chain), again=False))

    async def forget_places(self, addresses: Sequence[str]) -> int:
        """Forget places of somebody's."""
        storable = [one for one in addresses if is_storable(one)]
        [row] = await self._driver.fetch(FORGET_PLACES, storable, again=True)
        return int(row["gone"])

    async def forget_parties(self, parties: Sequence[str]) -> int:
        """Forget who had a part."""
        [row] = await self._driver.fetch(FORGET_PARTIES, list(parties), again=True)
        return int(row["gone"])

    async def forget_senders(self, sources: Sequence[str], words: Sequence[str]) -> int:
        """Forget inbox keys of somebody's."""
        names, parts = [one.lower() for one in sources], [word for word in words if word]
        [row] = await self._driver.fetch(FORGET_SENDERS, names, parts, again=True)
        return int(row["gone"])

    async def forget_kept(
        self, owner: str, prefix: str, *, expiring_before: Millis, limit: int = 500
    ) -> int:
        """Forget what is kept, before its time."""
        values = (owner, prefix, expiring_before, limit)
        [row] = await self._driver.fetch(FORGET_KEPT, *values, again=True)
        return int(row["gone"])

    async def scour(self) -> bool:
        """Do nothing: old rows go with the next vacuum, and stay in its log and in backups."""
        return False


def _values(rewrite: Rewrite, text: str, chain: bytes | None) -> tuple[object, ...]:
    events = list(zip(*rewrite.events, strict=True)) or [(), ()]
    deliveries = _columns([_delivery(one) for one in rewrite.deliveries], 5)
    questions = _columns(
        [
            (
                one.id,
                one.status,
                one.expires_at,
                object_text(one.body, "question"),
                asked_text(one.asked),
            )
            for one in rewrite.questions
        ],
        5,
    )
    snapshot = rewrite.snapshot
    return (
        rewrite.thread,
        rewrite.seen,
        rewrite.chain,
        rewrite.now,
        rewrite.origin,
        rewrite.requester,
        rewrite.thread_key,
        object_text(rewrite.summary, "summary"),
        chain,
        text,
        *events,
        *deliveries,
        *questions,
        None if snapshot is None else snapshot.seq,
        None if snapshot is None else snapshot.body,
        rewrite.updated_at,
        ERASED,
    )


def _delivery(one: RewrittenDelivery) -> tuple[str | bool, ...]:
    return (one.id, one.address, object_text(one.body, "delivery"), one.clears, one.ends)


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> Sequence[Sequence[object]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _stone(row: Row) -> Tombstone:
    return Tombstone(**{name: row[name] for name in _STONE})
