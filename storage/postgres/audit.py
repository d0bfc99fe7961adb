"""What an audit reads of the database: each thread by one statement, so of one moment."""

from __future__ import annotations

from agent_core.thread.events import ThreadId
from storage.postgres.driver import Driver, Row
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.texts import is_storable

_DELIVERY = ("seq", "id", "address", "question", "body", "status")
_LOGS = """
SELECT id, seq, updated_at, chain, logged.*, said.*
FROM (SELECT * FROM threads WHERE {which}) AS thread
CROSS JOIN LATERAL (
    SELECT array_agg(seq ORDER BY seq) AS event_seqs, array_agg(body ORDER BY seq) AS events
    FROM events WHERE events.thread = thread.id
) AS logged
CROSS JOIN LATERAL (
    SELECT {columns} FROM deliveries WHERE deliveries.thread = thread.id
) AS said
ORDER BY id
"""
_COLUMNS = ", ".join(f"array_agg({name} ORDER BY seq, n) AS said_{name}" for name in _DELIVERY)
_PAGE = _LOGS.format(which="id > $1 ORDER BY id LIMIT $2", columns=_COLUMNS)
_ONE = _LOGS.format(which="id = $1", columns=_COLUMNS)
_STRAYS = """
SELECT thread FROM events WHERE NOT EXISTS (SELECT FROM threads WHERE id = thread)
UNION SELECT thread FROM deliveries WHERE NOT EXISTS (SELECT FROM threads WHERE id = thread)
LIMIT $1
"""
_BEGIN = """
UPDATE threads SET chain = $1
WHERE id = $2 AND seq = $3 AND updated_at = $4 AND chain IS NOT DISTINCT FROM $5 RETURNING id
"""


class PostgresAudit:
    """The rows of a database, as they stand."""

    def __init__(self, driver: Driver) -> None:
        """Read over these connections."""
        self._driver = driver

    async def logs(self, *, after: str = "", limit: int = 20) -> list[SealedLog]:
        """Give whole threads, in the order of their ids."""
        return [_log(row) for row in await self._driver.fetch(_PAGE, after, limit, again=True)]

    async def log(self, thread: ThreadId) -> SealedLog | None:
        """Give one thread."""
        if not is_storable(thread):
            return None
        found = await self._driver.fetch(_ONE, thread, again=True)
        return _log(found[0]) if found else None

    async def strays(self, *, limit: int = 10) -> list[str]:
        """Name threads without a row."""
        found = await self._driver.fetch(_STRAYS, limit, again=True)
        return [row["thread"] for row in found]

    async def begin(self, log: SealedLog, chain: bytes) -> bool:
        """Give a thread its chain, if it is as it was read."""
        values = (chain, log.thread, log.seq, log.updated_at, log.chain)
        return bool(await self._driver.fetch(_BEGIN, *values, again=False))


def _log(row: Row) -> SealedLog:
    events = zip(row["event_seqs"] or (), row["events"] or (), strict=True)
    said = zip(*(row[f"said_{name}"] or () for name in _DELIVERY), strict=True)
    return SealedLog(
        thread=row["id"],
        seq=row["seq"],
        updated_at=row["updated_at"],
        chain=row["chain"],
        events=[KeptEvent(seq, body.encode()) for seq, body in events],
        deliveries=[
            KeptDelivery(seq, key, address, question, body.encode(), status)
            for seq, key, address, question, body, status in said
        ],
    )
