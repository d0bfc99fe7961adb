"""Reading: threads, questions, logs, and waiting for what comes. Changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from agent_core.loop.world import World
from agent_core.thread.events import Event, ThreadId
from agent_core.thread.questions import QuestionId
from agent_core.thread.times import spoken
from gateway.control.service import NotFound, Until
from gateway.control.showing import show_delivery, show_events, show_question, show_thread
from gateway.control.views import (
    DeliveryList,
    EventView,
    HaltView,
    QuestionList,
    QuestionView,
    ThreadList,
    ThreadView,
)
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.hints import ANY, Hints, heard_or_later
from gateway.shortcuts.nearby import Nearby
from storage.store import Store
from storage.values import Hint, ThreadRow, Wish

_POLL_SECONDS = 2.0
_PAGE = 500
_AT_END = ("finished", "failed", "cancelled")
_AT_REST = ("waiting", "paused", *_AT_END)
_ASKED = frozenset({"question.asked", "question.escalated"})
_UNREAD = frozenset({"web", "webhook", "event"})
"""Channels in which no person is."""


class Reading:
    """What can be seen of the gateway."""

    def __init__(
        self,
        store: Store,
        hints: Hints,
        world: World,
        nearby: Nearby,
        routing: Routing | None = None,
    ) -> None:
        self._store = store
        self._hints = hints
        self._world = world
        self._nearby = nearby
        self._routing = routing or ORIGIN_ONLY

    async def thread(self, thread: str) -> ThreadView:
        """Show one thread."""
        return show_thread(await self._row(ThreadId(thread)), self._world.now())

    async def threads(
        self, *, status: str = "", agent: str = "", cursor: str = "", limit: int = 50
    ) -> ThreadList:
        """List threads, newest first."""
        now = self._world.now()
        page = await self._store.threads(
            Wish(status=status, agent=agent, cursor=cursor, limit=limit, now=now)
        )
        items = [show_thread(row, now) for row in page.items]
        return ThreadList(items=items, next_cursor=page.next_cursor)

    async def question(self, question: str) -> QuestionView:
        """Show one question."""
        row = await self._store.question(QuestionId(question))
        if row is None:
            raise NotFound(f"there is no question {question!r}")
        return show_question(row)

    async def questions(
        self, *, status: str = "", cursor: str = "", limit: int = 50
    ) -> QuestionList:
        """List questions, oldest first."""
        page = await self._store.questions(Wish(status=status, cursor=cursor, limit=limit))
        return QuestionList(
            items=[show_question(row) for row in page.items], next_cursor=page.next_cursor
        )

    async def events(self, thread: str, *, after: int = 0, limit: int = 1000) -> list[EventView]:
        """Show a piece of a log."""
        await self._row(ThreadId(thread))
        events = await self._store.events(ThreadId(thread), after=after, limit=limit)
        return show_events(events, after)

    async def deliveries(self, thread: str) -> DeliveryList:
        """Show who heard of it where."""
        await self._row(ThreadId(thread))
        rows = await self._store.deliveries(ThreadId(thread))
        return DeliveryList(items=[show_delivery(row) for row in rows])

    async def log(self, thread: ThreadId) -> list[Event]:
        """Give a whole log."""
        await self._row(thread)
        events: list[Event] = []
        while True:
            piece = await self._store.events(thread, after=len(events), limit=_PAGE)
            events += piece
            if len(piece) < _PAGE:
                return events

    async def follow(self, thread: str, *, after: int = 0) -> AsyncIterator[EventView]:
        """Show the log from there on, and what comes, without an end of its own."""
        async with aclosing(self.following(thread, after=after)) as pieces:
            async for piece in pieces:
                for view in show_events(piece, after):
                    yield view
                after += len(piece)

    async def following(self, thread: str, *, after: int = 0) -> AsyncGenerator[list[Event], None]:
        """Give the log from there on in pieces, and what comes, without an end of its own."""
        await self._row(ThreadId(thread))
        async with self._hints.watching(thread) as heard:
            while True:
                piece = await self._store.events(ThreadId(thread), after=after, limit=_PAGE)
                if piece:
                    after += len(piece)
                    yield piece
                else:
                    await heard_or_later(heard, _POLL_SECONDS)

    async def stirred(self) -> AsyncGenerator[None, None]:
        """Tell at once, and then whenever something may have changed anywhere."""
        async with self._hints.watching(ANY) as heard:
            while True:
                yield
                await heard_or_later(heard, _POLL_SECONDS)

    async def wait(self, thread: str, *, seconds: float, until: Until = "rest") -> ThreadView:
        """Show the thread when it has come to rest or to its end, or when the time is over."""
        wanted = _AT_REST if until == "rest" else _AT_END
        end = self._world.now() + seconds * 1000
        worth_a_look = asyncio.Event()

        def hear(hint: Hint) -> None:
            if hint.status in ("", *wanted):
                worth_a_look.set()

        with self._hints.listening(thread, hear):
            if self._nearby.is_at(ThreadId(thread)):  # so it is not at rest
                await heard_or_later(worth_a_look, min(seconds, _POLL_SECONDS))
            while True:
                row = await self._row(ThreadId(thread))
                now = self._world.now()
                left = (end - now) / 1000
                if row.status in wanted or left <= 0:
                    return show_thread(row, now)
                await heard_or_later(worth_a_look, min(left, _POLL_SECONDS))

    async def told(self, thread: str) -> dict[str, list[str]]:
        """Name the channels in which people hear of each question."""
        told: dict[str, dict[str, None]] = {}
        for one in await self._store.deliveries(ThreadId(thread)):
            channel = one.address.partition(":")[0]
            if one.question and one.body["kind"] in _ASKED and channel not in _UNREAD:
                told.setdefault(one.question, {})[channel] = None
        return {question: list(channels) for question, channels in told.items()}

    async def halted(self) -> HaltView:
        """Tell whether the kill switch is pulled."""
        reason = await self._store.halted()
        return HaltView(halted=bool(reason), reason=reason)

    async def ready(self) -> None:
        """Ask the store something, so that it can say if it can't serve."""
        await self._store.halted()

    async def _row(self, thread: ThreadId) -> ThreadRow:
        row = await self._store.thread(thread)
        if row is None:
            raise NotFound(await self._why_not(thread))
        return row

    async def _why_not(self, thread: ThreadId) -> str:
        """Say what became of a thread that is not there; not by whom, which is for the audit."""
        stone = await self._store.retention().tombstone(thread)
        if stone is None:
            return f"there is no thread {thread!r}"
        _, archived, file = stone.by.partition(", archived in ")
        where = f"and is archived in {file}" if archived else "for good"
        return f"thread {thread} was taken out of the database on {spoken(stone.at)}, {where}"
