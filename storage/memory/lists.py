"""The twin's lists: sorted each time, cut after the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from agent_core.thread.events import Millis
from storage.cursors import read_cursor, write_cursor
from storage.memory.tables import MemoryTables, is_free, own_question, own_thread
from storage.values import Page, QuestionPage, QuestionRow, ThreadRow, Wish


def is_due(wake_at: Millis | None, lease_until: Millis | None, now: Millis) -> bool:
    """Tell whether the time has come and nobody holds it."""
    return wake_at is not None and wake_at <= now and is_free(lease_until, now)


def thread_page(tables: MemoryTables, wish: Wish) -> Page:
    """List threads, newest first."""
    rows = sorted(
        (row for row in tables.threads.values() if _wished(row, wish) and _has(tables, row, wish)),
        key=lambda row: (row.created_at, row.id),
        reverse=True,
    )
    if wish.cursor:
        last = read_cursor(wish.cursor)
        rows = [row for row in rows if (row.created_at, row.id) < last]
    items = [own_thread(row) for row in rows[: wish.limit]]
    more = len(rows) > wish.limit
    return Page(items, write_cursor(items[-1].created_at, items[-1].id) if more else None)


def _has(tables: MemoryTables, row: ThreadRow, wish: Wish) -> bool:
    """Tell whether one of the parties has a part in it."""
    theirs = tables.parties.get(row.id, set())
    return not wish.parties or not theirs.isdisjoint(wish.parties)


def _wished(row: ThreadRow, wish: Wish) -> bool:
    if wish.agent and row.agent != wish.agent:
        return False
    if wish.requester and (row.requester != wish.requester or row.origin.startswith("web:")):
        return False
    if not wish.status:
        return True
    if wish.now is not None and is_due(row.wake_at, row.lease_until, wish.now):
        return wish.status == "queued"
    return wish.status == row.status


def question_page(tables: MemoryTables, wish: Wish) -> QuestionPage:
    """List questions, oldest first."""
    rows = sorted(_questions(tables, wish), key=lambda row: (row.asked_at, row.id))
    if wish.cursor:
        last = read_cursor(wish.cursor)
        rows = [row for row in rows if (row.asked_at, row.id) > last]
    items = [own_question(row) for row in rows[: wish.limit]]
    more = len(rows) > wish.limit
    return QuestionPage(items, write_cursor(items[-1].asked_at, items[-1].id) if more else None)


def _questions(tables: MemoryTables, wish: Wish) -> Iterable[QuestionRow]:
    for row in tables.questions.values():
        if wish.status and row.status != wish.status:
            continue
        if wish.agent and tables.threads[row.thread].agent != wish.agent:
            continue
        if wish.rank is not None and row.rank != wish.rank:
            continue
        if wish.parties and row.asked and set(row.asked).isdisjoint(wish.parties):
            continue
        yield row
