"""A thread's log as server-sent events: what is there, and then what comes.

Each event's `id` is its place in the log, so a reader that was cut off asks for what is after the
last one it saw and misses nothing. A reader that is slow slows its own stream down: the next event
is fetched when the one before it has been taken.
"""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import structlog
from aiohttp import web

from gateway.control.views import EventView
from gateway.http.problems import RATE_LIMITED, slow_down
from gateway.http.routes import Ask

log = structlog.get_logger(__name__)

CONTENT_TYPE = "text/event-stream"
_HELLO = b"retry: 1000\n\n"
_HEARTBEAT = b": still here\n\n"


def wants_stream(request: web.Request) -> bool:
    """Tell whether the reader asked for a stream in so many words."""
    types = request.headers.get("Accept", "").split(",")
    named = any(one.split(";")[0].strip().lower() == CONTENT_TYPE for one in types)
    return named and request.method == "GET"


async def stream_events(ask: Ask[Any, Any], *, after: int) -> web.StreamResponse:
    """Stream the log from there on, until the reader leaves, the key dies, or we stop."""
    await ask.gateway.thread(ask.id)  # while it can still be told as a problem
    with ask.desk.seats.seat(ask.key.id) as seated, ask.desk.endings.ending(ask.request) as ending:
        if not seated:
            raise slow_down(RATE_LIMITED, "This key has too many streams open.", 5)
        response = web.StreamResponse(
            headers={"Content-Type": CONTENT_TYPE, "X-Accel-Buffering": "no"}
        )
        with ask.desk.meters.streaming(), suppress(ConnectionError):
            await response.prepare(ask.request)
            await response.write(_HELLO)
            await _pump(ask, response, ask.gateway.follow(ask.id, after=after), ending)
        response.force_close()
    return response


async def _pump(
    ask: Ask[Any, Any],
    response: web.StreamResponse,
    events: AsyncIterator[EventView],
    ending: asyncio.Event,
) -> None:
    end = asyncio.ensure_future(ending.wait())
    try:
        async with aclosing(_pieces(events, end, ask.desk.options.heartbeat)) as pieces:
            async for piece in pieces:
                if not await ask.desk.ring.is_valid(ask.key):
                    return
                await response.write(piece)
    except ConnectionError:
        return  # the reader has left
    except Exception as exc:  # too late for a problem: the stream ends, and the reader comes back
        log.exception("stream failed", error=type(exc).__name__, thread=ask.id)
    finally:
        end.cancel()
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _pieces(
    events: AsyncIterator[EventView], end: asyncio.Future[Any], heartbeat: float
) -> AsyncGenerator[bytes, None]:
    """Give events as they come, and a heartbeat when none does, until the end."""
    upcoming: asyncio.Future[EventView] | None = None
    try:
        while not end.done():
            upcoming = upcoming or asyncio.ensure_future(anext(events))
            both: set[asyncio.Future[Any]] = {upcoming, end}
            done, _ = await asyncio.wait(both, timeout=heartbeat, return_when=FIRST_COMPLETED)
            if upcoming in done:
                yield _written(upcoming.result())
                upcoming = None
            elif not done:
                yield _HEARTBEAT
    except StopAsyncIteration:
        return
    finally:
        if upcoming is not None:
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)


def _written(event: EventView) -> bytes:
    return f"id: {event.seq}\nevent: {event.type}\ndata: {event.model_dump_json()}\n\n".encode()
