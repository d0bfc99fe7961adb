"""Finding threads without reading them all."""

from __future__ import annotations

from msgspec.structs import replace

from agent_core.thread.events import Millis, ThreadId
from gateway.inbox.pages.filters import Filter
from gateway.inbox.pages.search import Found, find
from storage.cursors import read_cursor, write_cursor
from storage.values import Page, ThreadRow, Wish

NOW = Millis(10_000)
ROW = ThreadRow(
    id=ThreadId("t"),
    agent="desk",
    status="waiting",
    origin="",
    requester="ann",
    thread_key="",
    seq=1,
    handled_seq=1,
    wake_at=None,
    lease_until=None,
    epoch=0,
    summary={},
    created_at=Millis(0),
    updated_at=Millis(0),
)


class Shelf:
    """So many threads, the newest first; every seventh is about a goat."""

    def __init__(self, count: int) -> None:
        self._rows = [
            replace(
                ROW,
                id=ThreadId(f"t{at:05}"),
                created_at=Millis(count - at),
                summary={"title": "a goat" if at % 7 == 0 else "a cow"},
            )
            for at in range(count)
        ]
        self.looked_at = 0

    async def rows(self, wish: Wish) -> Page:
        """List as a store does."""
        left = self._rows
        if wish.cursor:
            end = read_cursor(wish.cursor)
            left = [one for one in left if (one.created_at, one.id) < end]
        items = left[: wish.limit]
        self.looked_at += len(items)
        more = len(left) > len(items)
        last = items[-1] if items else ROW
        return Page(items, write_cursor(last.created_at, last.id) if more else None)

    async def find(self, wanted: Filter, limit: int = 50, most: int = 10_000) -> Found:
        """Find some."""
        return await find(wanted, NOW, rows=self.rows, name=str, limit=limit, most=most)


async def test_pages_follow_each_other_without_gap_or_repetition() -> None:
    """Whatever fits is found once, however the pages fall."""
    shelf, seen, cursor = Shelf(1_000), list[str](), ""
    while True:
        found = await shelf.find(Filter(words="goat", cursor=cursor), limit=20)
        seen += [row.id for row in found.rows]
        if not found.next_cursor:
            break
        cursor = found.next_cursor

    assert seen == [f"t{at:05}" for at in range(0, 1_000, 7)]


async def test_without_a_filter_no_more_is_read_than_shown() -> None:
    """The list of the newest costs the same at ten threads and at ten thousand."""
    shelf = Shelf(5_000)
    found = await shelf.find(Filter())

    assert len(found.rows) == 50
    assert shelf.looked_at == 51


async def test_a_search_gives_up_in_time_and_says_how_far_it_came() -> None:
    """A word that nobody wrote must not read the whole table; the next click goes on."""
    shelf = Shelf(5_000)
    found = await shelf.find(Filter(words="unicorn"), most=1_000)

    assert found.rows == ()
    assert shelf.looked_at == 1_000
    assert found.looked_back_to == Millis(5_000 - 999)
    again = await shelf.find(Filter(words="goat", cursor=found.next_cursor), limit=1)
    assert again.rows[0].created_at < found.looked_back_to


async def test_days_bound_what_is_read() -> None:
    """What is older than wanted ends the search, what is newer is never read."""
    day = 86_400_000
    shelf = Shelf(300)
    found = await shelf.find(Filter(since="1970-01-02"))

    assert found == Found(rows=())
    assert shelf.looked_at <= 250
    until = await shelf.find(Filter(until="1970-01-01"))
    assert len(until.rows) == 50
    assert all(row.created_at < day for row in until.rows)
