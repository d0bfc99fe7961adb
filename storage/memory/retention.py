"""The twin's letting go: the same conditions, over dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agent_core.thread.events import Millis, ThreadId
from storage.memory.tables import MemoryTables, is_free
from storage.retention import ERASED, Ended, EndedWish, Purge, Rewrite, Tombstone
from storage.seals import Seal, grown
from storage.texts import event_text
from storage.values import Hint, ThreadRow

_ENDED = ("finished", "failed", "cancelled")


class MemoryRetention:
    """The tables, with less and less in them."""

    def __init__(self, tables: MemoryTables, seal: Seal | None) -> None:
        """Work on these tables; with a `seal`, chains are kept."""
        self._tables = tables
        self._seal = seal

    async def ended(self, wish: EndedWish) -> list[Ended]:
        """List threads that are over."""
        rows = [
            row
            for row in self._tables.threads.values()
            if row.status in wish.statuses
            and row.status in _ENDED
            and max(row.created_at, row.updated_at) < wish.before
            and wish.agent in ("", row.agent)
            and (row.created_at, row.id) > wish.after
            and self._rests(row, wish.before)
        ]
        rows.sort(key=lambda row: (row.created_at, row.id))
        return [
            Ended(row.id, row.agent, row.status, row.created_at, row.updated_at)
            for row in rows[: wish.limit]
        ]

    def _rests(self, row: ThreadRow, now: Millis) -> bool:
        if row.wake_at is not None or not is_free(row.lease_until, now):
            return False
        return not any(
            one.status == "pending" and one.thread == row.id
            for one in self._tables.deliveries.values()
        )

    async def purge(self, purge: Purge) -> list[str] | None:
        """Delete it, and keep its tombstone."""
        tables, stone = self._tables, purge.tombstone
        row = tables.threads.get(stone.thread)
        if row is None or row.status not in _ENDED or not self._rests(row, purge.now):
            return None
        if (row.seq, row.updated_at) != (stone.seq, purge.updated_at):
            return None
        if tables.chains.get(row.id) != stone.chain:
            return None
        asked = [tables.questions[key] for key in purge.questions if key in tables.questions]
        if any(one.thread == row.id and one.status == "open" for one in asked):
            return None
        tables.tombstones[row.id] = stone
        self._delete(row.id)
        for one in asked:
            if one.thread == row.id:
                del tables.questions[one.id]
        places = sorted(at for at, (thread, _) in tables.places.items() if thread == row.id)
        for place in places:
            del tables.places[place]
        return places

    def _delete(self, thread: ThreadId) -> None:
        tables = self._tables
        del tables.threads[thread]
        tables.events.pop(thread, None)
        tables.chains.pop(thread, None)
        tables.snapshots.pop(thread, None)
        tables.parties.pop(thread, None)
        for name in [name for name in tables.deliveries if name[0] == thread]:
            del tables.deliveries[name]

    async def tombstone(self, thread: ThreadId) -> Tombstone | None:
        """Tell what became of a thread."""
        return self._tables.tombstones.get(thread)

    async def tombstones(self, *, after: str = "", limit: int = 1000) -> list[Tombstone]:
        """Give them in order."""
        names = sorted(name for name in self._tables.tombstones if name > after)
        return [self._tables.tombstones[name] for name in names[:limit]]

    async def mark(self, stone: Tombstone) -> None:
        """Give a tombstone another mark."""
        if stone.thread in self._tables.tombstones:
            self._tables.tombstones[stone.thread] = stone

    async def forget_copies(
        self, after: tuple[str, str] = ("", ""), *, limit: int = 1000
    ) -> tuple[str, str] | None:
        """Forget inbox keys of threads that are gone."""
        names = sorted(name for name in self._tables.inbox if name > after)[:limit]
        for name in names:
            if self._tables.inbox[name][0].thread not in self._tables.threads:
                del self._tables.inbox[name]
        return names[-1] if names else None

    async def rewrite(self, rewrite: Rewrite) -> bool:
        """Put other words into a thread."""
        tables = self._tables
        row = tables.threads.get(rewrite.thread)
        if row is None or not is_free(row.lease_until, rewrite.now):
            return False
        seen = (row.seq, row.updated_at, tables.chains.get(row.id))
        if seen != (rewrite.seen, rewrite.updated_at, rewrite.chain):
            return False
        self._rewrite_log(rewrite)
        tables.threads[row.id] = replace(
            row,
            seq=row.seq + 1,
            handled_seq=row.handled_seq + (row.handled_seq == row.seq),
            epoch=row.epoch + 1,
            lease_until=None,
            origin=rewrite.origin,
            requester=rewrite.requester,
            thread_key=rewrite.thread_key,
            summary=rewrite.summary,
        )
        self._rewrite_rest(rewrite)
        tables.tell([Hint(row.id, row.seq + 1, is_due=False)])
        return True

    def _rewrite_log(self, rewrite: Rewrite) -> None:
        log, text = self._tables.events[rewrite.thread], event_text(rewrite.erased)
        for seq, body in rewrite.events:
            log[seq - 1] = body
        log.append(text)
        chain = grown(self._seal, rewrite.chain, rewrite.thread, text)
        if chain is not None:
            self._tables.chains[rewrite.thread] = chain

    def _rewrite_rest(self, rewrite: Rewrite) -> None:
        tables = self._tables
        for one in rewrite.deliveries:
            name = (rewrite.thread, one.id)
            row = replace(tables.deliveries[name], address=one.address, body=one.body)
            if one.clears:
                row = replace(row, receipt=None, error="")
            if one.ends and row.status == "pending":
                row = replace(row, status="failed", error=ERASED, lease_until=None)
            tables.deliveries[name] = row
        for question in rewrite.questions:
            there = tables.questions.get(question.id)
            if there is not None and there.thread == rewrite.thread:
                tables.questions[question.id] = question
        tables.snapshots.pop(rewrite.thread, None)
        if rewrite.snapshot is not None:
            tables.snapshots[rewrite.thread] = rewrite.snapshot

    async def forget_places(self, addresses: Sequence[str]) -> int:
        """Forget places of somebody's."""
        theirs = tuple(f"{one.lower()}:" for one in addresses)
        gone = [at for at in self._tables.places if f"{at.lower()}:".startswith(theirs)]
        for place in gone:
            del self._tables.places[place]
        return len(gone)

    async def forget_parties(self, parties: Sequence[str]) -> int:
        """Forget who had a part."""
        gone = [theirs & set(parties) for theirs in self._tables.parties.values()]
        for theirs in self._tables.parties.values():
            theirs -= set(parties)
        return sum(map(len, gone))

    async def forget_senders(self, sources: Sequence[str], words: Sequence[str]) -> int:
        """Forget inbox keys of somebody's."""
        names = [one.lower() for one in sources]
        gone = [
            (source, key)
            for source, key in self._tables.inbox
            if source.lower() in names or any(word and word in key.lower() for word in words)
        ]
        for name in gone:
            del self._tables.inbox[name]
        return len(gone)

    async def forget_kept(
        self, owner: str, prefix: str, *, expiring_before: Millis, limit: int = 500
    ) -> int:
        """Forget what is kept, before its time."""
        gone = [
            name
            for name, (_, expires_at) in self._tables.kept.items()
            if name[0] == owner
            and name[1].startswith(prefix)
            and expires_at is not None
            and expires_at < expiring_before
        ][:limit]
        for name in gone:
            del self._tables.kept[name]
        return len(gone)

    async def scour(self) -> bool:
        """There are no files."""
        return True
