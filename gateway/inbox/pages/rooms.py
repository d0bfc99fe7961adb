"""Rooms: everybody who looks at one thread, and one follower that tells them all what comes.

However many look, each event is read and written once. Who is too slow to keep up is let go, and
comes back by itself with the number of the last event it saw.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

log = structlog.get_logger(__name__)

_MOST_WAITING = 200
"""So many pieces may wait for one viewer: then it is too slow."""


class Piece(Struct, frozen=True, kw_only=True, gc=False):
    """Some events, ready to be sent."""

    first: int
    last: int
    body: bytes


LOST: Final = Piece(first=0, last=0, body=b"")
"""Nothing more comes: whoever looks must come back."""

Follow: TypeAlias = Callable[[str], AsyncIterator[Piece]]
"""Gives the pieces of a thread from now on.

First an empty one that says where that is: who has read less by then has a gap, and reads again. Or
else what came between their reading and its beginning would be told by neither.
"""


class Viewer:
    """One who looks: what waits to be sent to them."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Piece] = asyncio.Queue(_MOST_WAITING)
        self.is_lost = False

    def give(self, piece: Piece) -> None:
        """Hand over a piece; LOST says that no more come. Never waits."""
        try:
            self._queue.put_nowait(piece)
        except asyncio.QueueFull:
            self.is_lost = True

    async def take(self, seconds: float) -> Piece | None:
        """Give the next piece; nothing when none has come for so long."""
        if self.is_lost and self._queue.empty():
            return LOST
        try:
            async with asyncio.timeout(seconds):
                return await self._queue.get()
        except TimeoutError:
            return None


class Rooms:
    """One room for each thread that somebody looks at."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._viewers: dict[str, set[Viewer]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        """Count the rooms that are open."""
        return len(self._tasks)

    @contextmanager
    def enter(self, thread: str) -> Iterator[Viewer]:
        """Look at a thread for a while."""
        viewer = Viewer()
        self._viewers.setdefault(thread, set()).add(viewer)
        if thread not in self._tasks:
            self._tasks[thread] = asyncio.create_task(self._tell(thread))
        try:
            yield viewer
        finally:
            self._leave(thread, viewer)

    def _leave(self, thread: str, viewer: Viewer) -> None:
        viewers = self._viewers.get(thread, set())
        viewers.discard(viewer)
        if not viewers:
            self._viewers.pop(thread, None)
            task = self._tasks.pop(thread, None)
            if task is not None:
                task.cancel()

    async def _tell(self, thread: str) -> None:
        """Follow a thread for all; when that breaks, they come back and it begins anew."""
        try:
            async for piece in self._follow(thread):
                for viewer in self._viewers.get(thread, ()):
                    viewer.give(piece)
        except Exception as exc:  # noqa: BLE001 (one thread's trouble; everybody is told)
            log.warning("live room failed", thread=thread, error=type(exc).__name__)
        if self._tasks.get(thread) is asyncio.current_task():
            del self._tasks[thread]
        for viewer in self._viewers.get(thread, ()):
            viewer.give(LOST)


async def pump(
    viewer: Viewer,
    after: int,
    *,
    catch_up: Callable[[int], Awaitable[Sequence[Piece]]],
    send: Callable[[bytes], Awaitable[None]],
    idle: Callable[[], Awaitable[bool]],
    heartbeat: float,
) -> None:
    """Send everything after an event, in order and once, until there is nobody to send to.

    `catch_up` reads what the room does not tell: all that was there before, and any gap. `idle` is
    asked at every heartbeat, and says whether to go on.
    """
    for old in await catch_up(after):
        await send(old.body)
        after = old.last
    clock = asyncio.get_running_loop().time
    asked = clock()
    while True:
        piece = await viewer.take(heartbeat)
        if piece is LOST:
            return
        if clock() - asked >= heartbeat:  # also where much happens: a session may have ended
            if not await idle():
                return
            asked = clock()
        if piece is None or piece.last <= after:
            continue
        pieces = [piece] if piece.first == after + 1 else await catch_up(after)
        for one in pieces:
            await send(one.body)
            after = one.last
