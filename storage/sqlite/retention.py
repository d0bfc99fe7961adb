"""Letting go, on SQLite: each thread by statements in one transaction of the writer's."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from agent_core.thread.events import Millis, ThreadId
from storage.hints import Hints
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
from storage.sqlite.access import Access
from storage.texts import asked_text, event_text, is_storable, object_text
from storage.values import Hint, QuestionRow

_RESTS = """
t.status IN ('finished', 'failed', 'cancelled') AND t.wake_at IS NULL
AND (t.lease_until IS NULL OR t.lease_until <= :now)
AND NOT EXISTS (SELECT 1 FROM deliveries WHERE status = 'pending' AND thread = t.id)
"""
_ENDED = f"""
SELECT id, agent, status, created_at, updated_at FROM threads AS t
WHERE (created_at, id) > (:created_at, :id) AND created_at < :now AND updated_at < :now
AND status IN (SELECT value FROM json_each(:statuses)) AND :agent IN ('', agent) AND {_RESTS}
ORDER BY created_at, id LIMIT :limit
"""
_PURGE = f"""
DELETE FROM threads AS t WHERE id = :thread AND seq = :seq AND updated_at = :updated_at
AND chain IS :chain AND {_RESTS}
AND NOT EXISTS (
    SELECT 1 FROM questions
    WHERE id IN (SELECT value FROM json_each(:asked)) AND thread = t.id AND status = 'open'
)
"""
_HANGS_ON_IT = ("events", "snapshots", "deliveries", "parties")
_ITS_QUESTIONS = """
DELETE FROM questions WHERE id IN (SELECT value FROM json_each(?)) AND thread = ?
"""
_ITS_PLACES = "DELETE FROM places WHERE thread = ? RETURNING address"
_COLUMNS = "thread, at, by, seq, entries, chain, records, mark"
_TOMBSTONE = f"INSERT OR REPLACE INTO tombstones ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ONE = f"SELECT {_COLUMNS} FROM tombstones WHERE thread = ?"
_PAGE = f"SELECT {_COLUMNS} FROM tombstones WHERE thread > ? ORDER BY thread LIMIT ?"
_MARK = "UPDATE tombstones SET mark = ? WHERE thread = ?"
_COPIES = """
SELECT source, key, EXISTS (SELECT 1 FROM threads WHERE id = inbox.thread) FROM inbox
WHERE (source, key) > (?, ?) ORDER BY source, key LIMIT ?
"""
_FORGET_COPY = "DELETE FROM inbox WHERE source = ? AND key = ?"
_MOVE = """
UPDATE threads SET
    seq = seq + 1, handled_seq = handled_seq + (handled_seq = seq), epoch = epoch + 1,
    lease_until = NULL, origin = ?, requester = ?, thread_key = ?, summary = ?, chain = ?
WHERE id = ? AND seq = ? AND updated_at = ? AND chain IS ?
    AND (lease_until IS NULL OR lease_until <= ?)
"""
_DELIVERY = """
UPDATE deliveries SET
    address = :address, body = :body, receipt = CASE WHEN :clears THEN NULL ELSE receipt END,
    error = CASE WHEN :ends AND status = 'pending' THEN :erased WHEN :clears THEN '' ELSE error END,
    lease_until = CASE WHEN :ends THEN NULL ELSE lease_until END,
    status = CASE WHEN :ends AND status = 'pending' THEN 'failed' ELSE status END
WHERE thread = :thread AND id = :id
"""
_QUESTION = """
UPDATE questions SET status = ?, expires_at = ?, body = ?, asked = ? WHERE id = ? AND thread = ?
"""
_FORGET_PLACE = "DELETE FROM places WHERE instr(lower(address) || ':', ?) = 1"
_FORGET_PARTIES = "DELETE FROM parties WHERE party IN (SELECT value FROM json_each(?))"
_FORGET_SOURCES = "DELETE FROM inbox WHERE lower(source) IN (SELECT value FROM json_each(?))"
_FORGET_WORD = "DELETE FROM inbox WHERE instr(lower(key), ?)"
_FORGET_KEPT = """
DELETE FROM kept WHERE (owner, key) IN (
    SELECT owner, key FROM kept WHERE expires_at < ? AND owner = ? AND key >= ? AND key < ? LIMIT ?
)
"""
_LAST = "\U0010ffff"
"""No key has it, so every key that begins with a prefix comes before the two together."""


class SqliteRetention:
    """A file, with less and less in it."""

    def __init__(self, access: Access, seal: Seal | None, hints: Hints) -> None:
        """Write over these ways to the file; with a `seal`, chains are kept."""
        self._db = access
        self._seal = seal
        self._hints = hints

    async def ended(self, wish: EndedWish) -> list[Ended]:
        """List threads that are over."""
        if not is_storable(wish.agent):
            return []
        created_at, name = wish.after
        values = {
            "created_at": created_at,
            "id": name,
            "now": wish.before,
            "statuses": _listed(wish.statuses),
            "agent": wish.agent,
            "limit": wish.limit,
        }
        return await self._db.read(lambda db: [Ended(*row) for row in db.execute(_ENDED, values)])

    async def purge(self, purge: Purge) -> list[str] | None:
        """Delete it, and keep its tombstone."""
        return await self._db.write(lambda db: _purge(db, purge))

    async def tombstone(self, thread: ThreadId) -> Tombstone | None:
        """Tell what became of a thread."""
        if not is_storable(thread):
            return None
        row = await self._db.read(lambda db: db.execute(_ONE, (thread,)).fetchone())
        return None if row is None else _stone(row)

    async def tombstones(self, *, after: str = "", limit: int = 1000) -> list[Tombstone]:
        """Give them in order."""
        rows = await self._db.read(lambda db: db.execute(_PAGE, (after, limit)).fetchall())
        return [_stone(row) for row in rows]

    async def mark(self, stone: Tombstone) -> None:
        """Give a tombstone another mark."""
        values = (stone.mark, stone.thread)
        await self._db.write(lambda db: db.execute(_MARK, values).rowcount)

    async def forget_copies(
        self, after: tuple[str, str] = ("", ""), *, limit: int = 1000
    ) -> tuple[str, str] | None:
        """Forget inbox keys of threads that are gone."""
        rows = await self._db.read(lambda db: db.execute(_COPIES, (*after, limit)).fetchall())
        if gone := [(source, key) for source, key, is_there in rows if not is_there]:
            await self._db.write_fleeting(lambda db: db.executemany(_FORGET_COPY, gone).rowcount)
        return (rows[-1][0], rows[-1][1]) if rows else None

    async def rewrite(self, rewrite: Rewrite) -> bool:
        """Put other words into a thread."""
        text = event_text(rewrite.erased)
        chain = grown(self._seal, rewrite.chain, rewrite.thread, text)
        done = await self._db.write(lambda db: _rewrite(db, rewrite, text, chain))
        if done:
            self._hints.tell([Hint(rewrite.thread, rewrite.seen + 1, is_due=False)])
        return done

    async def forget_places(self, addresses: Sequence[str]) -> int:
        """Forget places of somebody's."""
        values = [(f"{one.lower()}:",) for one in addresses if is_storable(one)]
        return await self._db.write(lambda db: db.executemany(_FORGET_PLACE, values).rowcount)

    async def forget_parties(self, parties: Sequence[str]) -> int:
        """Forget who had a part."""
        listed = _listed(parties)
        return await self._db.write(lambda db: db.execute(_FORGET_PARTIES, (listed,)).rowcount)

    async def forget_senders(self, sources: Sequence[str], words: Sequence[str]) -> int:
        """Forget inbox keys of somebody's."""
        return await self._db.write(lambda db: _forget_senders(db, sources, words))

    async def forget_kept(
        self, owner: str, prefix: str, *, expiring_before: Millis, limit: int = 500
    ) -> int:
        """Forget what is kept, before its time."""
        values = (expiring_before, owner, prefix, prefix + _LAST, limit)
        return await self._db.write_fleeting(lambda db: db.execute(_FORGET_KEPT, values).rowcount)

    async def scour(self) -> bool:
        """Fold the write-ahead log into the file and empty it: it holds rows as they were."""
        return await asyncio.to_thread(self._db.file.fold_log)


def _purge(connection: sqlite3.Connection, purge: Purge) -> list[str] | None:
    stone, asked = purge.tombstone, _listed(purge.questions)
    values = {
        "thread": stone.thread,
        "seq": stone.seq,
        "updated_at": purge.updated_at,
        "chain": stone.chain,
        "now": purge.now,
        "asked": asked,
    }
    if connection.execute(_PURGE, values).rowcount == 0:
        return None
    for table in _HANGS_ON_IT:
        connection.execute(f"DELETE FROM {table} WHERE thread = ?", (stone.thread,))
    connection.execute(_ITS_QUESTIONS, (asked, stone.thread))
    places = connection.execute(_ITS_PLACES, (stone.thread,)).fetchall()
    row = (stone.thread, stone.at, stone.by, stone.seq, stone.entries)
    connection.execute(_TOMBSTONE, (*row, stone.chain, stone.records, stone.mark))
    return sorted(address for (address,) in places)


def _rewrite(
    connection: sqlite3.Connection, rewrite: Rewrite, text: str, chain: bytes | None
) -> bool:
    connection.execute("PRAGMA secure_delete=ON")  # what was there is overwritten, not only freed
    thread = rewrite.thread
    new = (rewrite.origin, rewrite.requester, rewrite.thread_key)
    summary = object_text(rewrite.summary, "summary")
    condition = (thread, rewrite.seen, rewrite.updated_at, rewrite.chain, rewrite.now)
    if connection.execute(_MOVE, (*new, summary, chain, *condition)).rowcount == 0:
        return False
    connection.executemany(
        "UPDATE events SET body = ? WHERE thread = ? AND seq = ?",
        [(body, thread, seq) for seq, body in rewrite.events],
    )
    connection.execute("INSERT INTO events VALUES (?, ?, ?)", (thread, rewrite.seen + 1, text))
    connection.executemany(_DELIVERY, [_delivery(thread, one) for one in rewrite.deliveries])
    connection.executemany(_QUESTION, [_question(thread, one) for one in rewrite.questions])
    connection.execute("DELETE FROM snapshots WHERE thread = ?", (thread,))
    if rewrite.snapshot is not None:
        snapshot = (thread, rewrite.snapshot.seq, rewrite.snapshot.body)
        connection.execute("INSERT INTO snapshots VALUES (?, ?, ?)", snapshot)
    return True


def _delivery(thread: ThreadId, one: RewrittenDelivery) -> dict[str, str | bool]:
    return {
        "thread": thread,
        "id": one.id,
        "address": one.address,
        "body": object_text(one.body, "delivery"),
        "clears": one.clears,
        "ends": one.ends,
        "erased": ERASED,
    }


def _question(thread: ThreadId, one: QuestionRow) -> tuple[str | int | None, ...]:
    body, asked = object_text(one.body, "question"), asked_text(one.asked)
    return (one.status, one.expires_at, body, asked, one.id, thread)


def _forget_senders(
    connection: sqlite3.Connection, sources: Sequence[str], words: Sequence[str]
) -> int:
    gone = connection.execute(
        _FORGET_SOURCES, (_listed([one.lower() for one in sources]),)
    ).rowcount
    for word in filter(None, words):
        gone += connection.execute(_FORGET_WORD, (word,)).rowcount
    return gone


def _listed(values: Sequence[str]) -> str:
    """Write names as one parameter, for json_each."""
    return msgspec.json.encode(list(values)).decode()


def _stone(row: tuple[Any, ...]) -> Tombstone:
    return Tombstone(
        thread=row[0],
        at=row[1],
        by=row[2],
        seq=row[3],
        entries=row[4],
        chain=row[5],
        records=row[6],
        mark=row[7],
    )
