"""Waiting for something on behalf of somebody who may leave, in a process that may be told to stop.

What waits here (a stream, a `?wait=`) ends as soon as the connection is lost or the server begins
to shut down. Ordinary requests are not in here: they finish.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from aiohttp import web

from gateway.http.connections import DeadlineHandler

Result = TypeVar("Result")


class Endings:
    """Everything that waits just now, so that it can be told to end."""

    def __init__(self) -> None:
        self._open: set[asyncio.Event] = set()
        self.closing = False

    async def close(self, _app: web.Application) -> None:
        """Let go of whoever waits; whoever comes later doesn't wait at all."""
        self.closing = True
        for event in self._open:
            event.set()

    @contextmanager
    def ending(self, request: web.Request) -> Iterator[asyncio.Event]:
        """Give an event that is set when there is no more point in waiting."""
        event = asyncio.Event()
        if self.closing:
            event.set()
        self._open.add(event)
        connection = request.protocol
        if isinstance(connection, DeadlineHandler):
            connection.when_lost.add(event.set)
        try:
            yield event
        finally:
            self._open.discard(event)
            if isinstance(connection, DeadlineHandler):
                connection.when_lost.discard(event.set)


async def unless(ending: asyncio.Event, work: Coroutine[Any, Any, Result]) -> Result | None:
    """Do the work, or give it up (and give None) when the ending comes first."""
    task = asyncio.ensure_future(work)
    end = asyncio.ensure_future(ending.wait())
    try:
        await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        end.cancel()
        await asyncio.gather(task, end, return_exceptions=True)
