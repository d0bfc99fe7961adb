"""The board: what is open just now, read once for everybody who has the queue before them.

A viewer is told the whole of what waits for them, not the changes: whoever was away for a while
misses nothing. And nothing that was read before they came: their page is newer than that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
import structlog
from msgspec import Struct

from agent_core.thread.events import Millis
from gateway.inbox.visitor import Visitor
from storage.store import Store
from storage.values import QuestionRow, Wish

log = structlog.get_logger(__name__)

PAGE, MOST = 200, 2_000
"""So many open questions are looked at; beyond that the oldest count."""
_PAUSE_SECONDS = 0.3
"""At the most one look in this time, however much happens."""


class Waiting(Struct, frozen=True, gc=False):
    """What a viewer is told: the ids in order, and how many votes each has."""

    count: int
    """How many of them wait for themselves; operators are told of the others, too."""
    ids: tuple[str, ...]
    votes: tuple[int, ...]
    is_all: bool
    """Else there were too many: what is not named may be open all the same."""


class Open(Struct, frozen=True, gc=False):
    """What is open, oldest first."""

    rows: tuple[QuestionRow, ...] = ()
    is_all: bool = True


async def open_questions(store: Store) -> Open:
    """Read what is open."""
    rows: list[QuestionRow] = []
    cursor: str | None = ""
    while cursor is not None and len(rows) < MOST:
        page = await store.questions(Wish(status="open", cursor=cursor, limit=PAGE))
        rows += page.items
        cursor = page.next_cursor
    return Open(tuple(rows), cursor is None)


class Board:
    """One look at the open questions for all."""

    def __init__(
        self,
        store: Store,
        stirred: Callable[[], AsyncIterator[None]],
        is_asked: Callable[[Visitor, Sequence[str]], bool],
    ) -> None:
        self._store = store
        self._stirred = stirred
        self._is_asked = is_asked
        self._open = Open()
        self._version = 0
        self._changed = asyncio.Condition()
        self._wanted = asyncio.Event()
        self._arrivals = 0
        self._read_for = 0
        """The last of those who had come before what is here was read."""
        self._viewers = 0
        self._task: asyncio.Task[None] | None = None
        self._written: dict[object, bytes] = {}

    @contextmanager
    def looked_at(self) -> Iterator[int]:
        """Keep the board up to date while somebody looks; gives which arrival it was."""
        self._viewers += 1
        self._arrivals += 1
        self._wanted.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            yield self._arrivals
        finally:
            self._viewers -= 1
            if not self._viewers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def next_for(
        self, visitor: Visitor, last: bytes, seconds: float, *, arrival: int = 1
    ) -> bytes:
        """Give what waits for a visitor once it is other than `last`; TimeoutError if it stays."""
        async with asyncio.timeout(seconds):
            while True:
                async with self._changed:
                    seen = self._version
                    told = self._told(visitor) if self._read_for >= arrival else last
                    if told != last:
                        return told
                    await self._changed.wait_for(lambda: self._version != seen)  # noqa: B023

    def _told(self, visitor: Visitor) -> bytes:
        """Write it once for each person, in however many windows they look."""
        key = (visitor.kind, visitor.name, visitor.scopes)
        if key not in self._written:
            mine = sorted(self._asked(visitor, self._open.rows), key=_urgency)
            waiting = Waiting(
                len(self._asked(visitor.themselves, mine)),
                tuple(row.id for row in mine),
                tuple(len(row.body.get("votes", ())) for row in mine),
                self._open.is_all,
            )
            self._written[key] = msgspec.json.encode(waiting)
        return self._written[key]

    def _asked(self, visitor: Visitor, rows: Sequence[QuestionRow]) -> list[QuestionRow]:
        return [row for row in rows if self._is_asked(visitor, row.body["audience"])]

    async def _watch(self) -> None:
        """Look whenever something has stirred, or somebody has come."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            while await self._wanted.wait():
                self._wanted.clear()
                await self._look()
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _listen(self) -> None:
        async for _ in self._stirred():
            self._wanted.set()

    async def _look(self) -> None:
        arrivals = self._arrivals
        try:
            found = await open_questions(self._store)
        except Exception as exc:  # noqa: BLE001 (it is looked at again a moment later)
            log.warning("board not read", error=type(exc).__name__)
            self._wanted.set()
            return
        async with self._changed:
            self._open, self._written = found, {}
            self._version += 1
            self._read_for = arrivals
            self._changed.notify_all()


def _urgency(row: QuestionRow) -> tuple[int, Millis, str]:
    return ({"high": 0, "low": 2}.get(row.body["urgency"], 1), row.asked_at, row.id)
