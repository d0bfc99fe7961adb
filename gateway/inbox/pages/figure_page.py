"""Figures: counted from the newest rows, bounded, and kept for a minute for each who looks."""

from __future__ import annotations

from typing import Final

from agent_core.thread.events import Millis
from gateway.inbox.answers import Answer, Page
from gateway.inbox.house import House
from gateway.inbox.pages.charts import lines, number, stacked
from gateway.inbox.pages.figures import (
    DAYS,
    STANDS,
    AnswerTime,
    Figures,
    ThreadCount,
    begin_of,
    count,
)
from gateway.inbox.requests import InboxRequest
from gateway.inbox.visitor import Visitor
from storage.cursors import write_cursor
from storage.values import QuestionRow, ThreadRow, Wish

_BATCH: Final = 500
_MOST: Final = 10_000
_KEPT_MS: Final = 60_000
_MOST_KEPT: Final = 100


class FigurePage:
    """Counts, and remembers what it has counted for a minute."""

    def __init__(self) -> None:
        self._kept: dict[object, tuple[Millis, Figures]] = {}

    async def show(self, request: InboxRequest) -> Answer:
        """Show the figures."""
        figures = await self._figures(request.house, request.visitor)
        labels = [one.label for one in figures.days]
        context = {
            "figures": figures,
            "days": DAYS,
            "stands": STANDS,
            "most": _MOST,
            "by_state": stacked(labels, STANDS, [one.counts for one in figures.days]),
            "waits": lines(
                labels,
                ("median", "nine of ten"),
                [(one.median_minutes, one.p90_minutes) for one in figures.days],
                "minutes",
            ),
            "most_tokens": max(
                (one.input_tokens + one.output_tokens for one in figures.agents), default=0
            ),
            "number": number,
        }
        return Page("pages/figures.html", context)

    async def _figures(self, house: House, visitor: Visitor) -> Figures:
        now, who = house.now(), (visitor.kind, visitor.name, visitor.scopes)
        kept = self._kept.get(who)
        if kept is not None and now < kept[0] + _KEPT_MS:
            return kept[1]
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        begin = begin_of(now)
        threads = [_counted(row) for row in await _threads(house, visitor, begin)]
        answers = [one for row in await _questions(house, visitor, begin) for one in _answered(row)]
        figures = count(threads, answers, now)
        self._kept[who] = (now, figures)
        return figures


async def _threads(house: House, visitor: Visitor, begin: Millis) -> list[ThreadRow]:
    found: list[ThreadRow] = []
    cursor = ""
    while len(found) < _MOST:
        page = await house.sight.rows(visitor, Wish(cursor=cursor, limit=_BATCH))
        found += [row for row in page.items if row.created_at >= begin]
        if page.next_cursor is None or not page.items or page.items[-1].created_at < begin:
            break
        cursor = page.next_cursor
    return found


async def _questions(house: House, visitor: Visitor, begin: Millis) -> list[QuestionRow]:
    found: list[QuestionRow] = []
    cursor, looked = write_cursor(begin, ""), 0
    while looked < _MOST:
        page = await house.store.questions(Wish(status="answered", cursor=cursor, limit=_BATCH))
        found += [row for row in page.items if house.sight.is_asked(visitor, row.body["audience"])]
        looked += _BATCH
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    return found


def _counted(row: ThreadRow) -> ThreadCount:
    usage = row.summary.get("usage", {})
    return ThreadCount(
        agent=row.agent,
        status=row.status,
        created_at=row.created_at,
        input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
        cost=usage.get("cost", 0.0),
    )


def _answered(row: QuestionRow) -> list[AnswerTime]:
    settled = row.body.get("settled_at")
    if row.body["kind"] == "event" or settled is None:
        return []
    return [AnswerTime(row.asked_at, settled)]
