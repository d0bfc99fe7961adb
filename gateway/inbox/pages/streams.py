"""Server-sent events for pages: known by the session's cookie, ended with the session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import structlog
from aiohttp import web

from gateway.http.patience import unless
from gateway.http.problems import RATE_LIMITED, slow_down
from gateway.http.queries import parse_last_event_id
from gateway.inbox.answers import Answer
from gateway.inbox.pages.live import Live, queue_message
from gateway.inbox.pages.rooms import pump
from gateway.inbox.requests import InboxRequest

log = structlog.get_logger(__name__)

_HELLO: Final = b"retry: 1500\n: hello\n\n"
_STILL_HERE: Final = b"event: beat\ndata: 1\n\n"
"""An event and no comment: a script can't hear those, and so would not notice silence."""


@dataclass(frozen=True, slots=True)
class Line:
    """An open stream: how to send, and to ask at every heartbeat whether to go on."""

    send: Callable[[bytes], Awaitable[None]]
    idle: Callable[[], Awaitable[bool]]
    heartbeat: float


Work: TypeAlias = Callable[[Line], Coroutine[Any, Any, None]]


class Streams:
    """What goes on live."""

    def __init__(self, live: Live) -> None:
        self._live = live

    async def thread(self, request: InboxRequest) -> Answer:
        """Stream a thread's entries after the last that was seen."""
        name = request.params["thread"]
        await request.house.sight.thread(request.visitor, name)  # while it can still be refused
        after = parse_last_event_id(request.http.headers, _number(request.asked("after")))

        async def work(line: Line) -> None:
            with self._live.rooms.enter(name) as viewer:
                await pump(
                    viewer,
                    after,
                    catch_up=lambda seen: self._live.since(name, seen),
                    send=line.send,
                    idle=line.idle,
                    heartbeat=line.heartbeat,
                )

        return await self._streamed(request, work)

    async def queue(self, request: InboxRequest) -> Answer:
        """Stream what waits for the visitor, whenever it changes."""

        async def work(line: Line) -> None:
            with self._live.board.looked_at() as arrival:
                await self._tell_queue(request, line, arrival)

        return await self._streamed(request, work)

    async def _tell_queue(self, request: InboxRequest, line: Line, arrival: int) -> None:
        last, clock = b"", asyncio.get_running_loop().time
        following = partial(self._live.board.next_for, request.visitor, arrival=arrival)
        asked = clock()
        while True:
            with suppress(TimeoutError):
                last = await following(last, line.heartbeat)
                await line.send(queue_message(last))
            if clock() - asked >= line.heartbeat:  # also where much happens: sessions end
                if not await line.idle():
                    return
                asked = clock()

    async def _streamed(self, request: InboxRequest, work: Work) -> Answer:
        """Work until the reader leaves, signs out, or we stop."""
        response = web.StreamResponse(headers=_HEADERS)
        if request.http.method == "HEAD":
            return web.Response(headers=_HEADERS)
        with self._seat(request) as (ending, heartbeat):
            try:
                line = await _opened(response, request, heartbeat)
                await unless(ending, work(line))
            except ConnectionError:
                pass  # the reader has left
            except Exception as exc:  # too late for a page: it ends, and the reader comes back
                log.exception("live stream failed", error=type(exc).__name__)
            response.force_close()
        return response

    @contextmanager
    def _seat(self, request: InboxRequest) -> Iterator[tuple[asyncio.Event, float]]:
        desk = request.house.desk
        with (
            desk.seats.seat(f"session {request.visitor.session}") as seated,
            desk.endings.ending(request.http) as ending,
            desk.meters.streaming(),
        ):
            if not seated:
                raise slow_down(RATE_LIMITED, "Too many windows look at this live.", 5)
            yield ending, desk.options.heartbeat


_HEADERS: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
}


async def _opened(response: web.StreamResponse, request: InboxRequest, heartbeat: float) -> Line:
    """Begin, and give what sends, and what says that we are still here."""
    await response.prepare(request.http)
    await response.write(_HELLO)

    async def idle() -> bool:
        if not await request.still_valid():
            return False
        await response.write(_STILL_HERE)
        return True

    return Line(response.write, idle, heartbeat)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004 (no log is longer)
