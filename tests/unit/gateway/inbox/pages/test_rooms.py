"""One follower for everybody who looks at a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from gateway.inbox.pages.rooms import LOST, Piece, Rooms, Viewer, pump


def piece(first: int, last: int | None = None) -> Piece:
    """Make a piece whose body names its events."""
    last = last or first
    return Piece(
        first=first, last=last, body=b"".join(b"%d " % seq for seq in range(first, last + 1))
    )


class Log:
    """A log that grows by hand, and counts who reads it."""

    def __init__(self) -> None:
        self.length = 0
        self.followers = 0
        self.reads = 0
        self.may_begin = asyncio.Event()
        self.may_begin.set()
        self.begun = asyncio.Event()
        self._grown: asyncio.Queue[Piece | Exception] = asyncio.Queue()

    def grow(self, by: int = 1) -> None:
        """Append events."""
        self._grown.put_nowait(piece(self.length + 1, self.length + by))
        self.length += by

    def grow_unheard(self, by: int) -> None:
        """Append events of which the follower doesn't hear, as before it began."""
        self.length += by

    def break_off(self) -> None:
        """Let the follower fail."""
        self._grown.put_nowait(OSError("gone"))

    async def follow(self, _thread: str) -> AsyncIterator[Piece]:
        """Give what is appended from now on."""
        self.followers += 1
        await self.may_begin.wait()
        self.begun.set()
        yield Piece(first=self.length + 1, last=self.length, body=b"")
        while True:
            found = await self._grown.get()
            if isinstance(found, Exception):
                raise found
            yield found

    async def since(self, after: int) -> list[Piece]:
        """Read what is there."""
        self.reads += 1
        return [piece(after + 1, self.length)] if after < self.length else []


class Window:
    """Somebody who looks: what has come there."""

    def __init__(self, rooms: Rooms, log: Log, after: int = 0) -> None:
        self.seen = b""
        self._changed = asyncio.Event()
        self._rooms, self._log, self._after = rooms, log, after

    async def look(self) -> None:
        """Look until it ends."""
        with self._rooms.enter("t") as viewer:
            await pump(
                viewer,
                self._after,
                catch_up=self._log.since,
                send=self._send,
                idle=self._idle,
                heartbeat=30,
            )

    async def until(self, text: bytes) -> None:
        """Wait until it has all come."""
        while self.seen != text:
            self._changed.clear()
            await self._changed.wait()

    async def _send(self, body: bytes) -> None:
        self.seen += body
        self._changed.set()

    async def _idle(self) -> bool:
        return True


async def test_many_windows_are_told_by_one_follower() -> None:
    """Five hundred who look cost the store as much as one."""
    log = Log()
    rooms = Rooms(log.follow)
    windows = [Window(rooms, log) for _ in range(500)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one.look()) for one in windows]
        await log.begun.wait()
        log.grow(2)
        log.grow()
        for one in windows:
            await one.until(b"1 2 3 ")
        for task in tasks:
            task.cancel()

    assert log.followers == 1
    assert log.reads == 500  # each its own beginning, and nothing after that
    assert len(rooms) == 0


async def test_who_comes_back_gets_what_was_missed_once_and_in_order() -> None:
    """Neither a gap nor a repetition, whatever the follower tells at the same time."""
    log = Log()
    rooms = Rooms(log.follow)
    log.grow_unheard(5)
    window = Window(rooms, log, after=2)
    task = asyncio.create_task(window.look())
    await window.until(b"3 4 5 ")
    log.grow_unheard(2)
    log.grow()
    await window.until(b"3 4 5 6 7 8 ")
    task.cancel()

    assert log.reads == 2


async def test_what_comes_while_the_follower_begins_is_not_forgotten() -> None:
    """Where it begins is told: whoever has read less by then reads again."""
    log = Log()
    log.may_begin.clear()
    rooms = Rooms(log.follow)
    log.grow_unheard(1)
    window = Window(rooms, log)
    task = asyncio.create_task(window.look())
    for _ in range(5):
        await asyncio.sleep(0)
    log.grow_unheard(1)
    log.may_begin.set()
    await asyncio.wait_for(window.until(b"1 2 "), 5)
    task.cancel()


async def test_when_the_follower_breaks_everybody_is_let_go() -> None:
    """They come back by themselves, and the room begins anew."""
    log = Log()
    rooms = Rooms(log.follow)
    window = Window(rooms, log)
    task = asyncio.create_task(window.look())
    await asyncio.sleep(0)
    log.break_off()
    await asyncio.wait_for(task, 5)
    again = asyncio.create_task(Window(rooms, log).look())
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert log.followers == 2
    again.cancel()
    with suppress(asyncio.CancelledError):
        await again


async def test_who_is_too_slow_is_let_go() -> None:
    """Memory for one who never reads is bounded; the others are not held up."""
    viewer = Viewer()
    for seq in range(1, 1_000):
        viewer.give(piece(seq))
    taken = 0
    while await viewer.take(1) is not LOST:
        taken += 1

    assert viewer.is_lost
    assert taken == 200


async def test_silence_is_used_to_ask_whether_to_go_on() -> None:
    """A session that has ended ends its streams within a heartbeat."""
    asked = 0

    async def idle() -> bool:
        nonlocal asked
        asked += 1
        return asked < 3

    async def nothing(_after: int) -> list[Piece]:
        return []

    async def send(_body: bytes) -> None:
        raise AssertionError("there is nothing to send")

    await pump(Viewer(), 0, catch_up=nothing, send=send, idle=idle, heartbeat=0.001)

    assert asked == 3
