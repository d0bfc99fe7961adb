"""Finding threads: the store lists by status and agent, the rest is looked at row by row.

Bounded: a request looks at so many rows at the most, and then says how far back it has come. So a
search costs the same however many threads there are; going on is one more click.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from agent_core.thread.events import Millis
from gateway.inbox.pages.filters import Filter, Fitting
from storage.cursors import write_cursor
from storage.values import Page, ThreadRow, Wish

PAGE: Final = 50
_BATCH: Final = 250
_MOST: Final = 10_000


class Found(Struct, frozen=True, kw_only=True, gc=False):
    """A page of threads, and how to go on."""

    rows: tuple[ThreadRow, ...]
    next_cursor: str = ""
    looked_back_to: Millis | None = None
    """Where it gave up looking for more; None if it did not."""


async def find(
    wanted: Filter,
    now: Millis,
    *,
    rows: Callable[[Wish], Awaitable[Page]],
    name: Callable[[str], str],
    limit: int = PAGE,
    most: int = _MOST,
) -> Found:
    """Give the next threads that fit, newest first."""
    found: list[ThreadRow] = []
    cursor, looked = _start(wanted), 0
    while True:
        batch = limit + 1 if wanted.is_empty else _BATCH
        page = await rows(
            Wish(status=wanted.status, agent=wanted.agent, now=now, cursor=cursor, limit=batch)
        )
        for row in page.items:
            if wanted.since_ms is not None and row.created_at < wanted.since_ms:
                return Found(rows=tuple(found))
            if wanted.fits(_fitting(row, name)):
                if len(found) == limit:
                    last = found[-1]
                    return Found(
                        rows=tuple(found), next_cursor=write_cursor(last.created_at, last.id)
                    )
                found.append(row)
        looked += batch
        if page.next_cursor is None:
            return Found(rows=tuple(found))
        cursor = page.next_cursor
        if looked >= most and page.items:
            back = page.items[-1].created_at
            return Found(rows=tuple(found), next_cursor=cursor, looked_back_to=back)


def _start(wanted: Filter) -> str:
    """Begin where the wanted time ends: a cursor of that moment leaves out what is newer."""
    if wanted.cursor or wanted.until_ms is None:
        return wanted.cursor
    return write_cursor(wanted.until_ms, "")


def _fitting(row: ThreadRow, name: Callable[[str], str]) -> Fitting:
    return Fitting(
        id=row.id,
        key=row.thread_key,
        agent=row.agent,
        requester=row.requester,
        name=name(row.requester),
        origin=row.origin,
        title=str(row.summary.get("title", "")),
        created_at=row.created_at,
    )
