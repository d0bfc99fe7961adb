"""Serving the page: on loopback, at the port that was asked for, until told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from gateway.playground.site import Site
from gateway.playground.stage import Stage

USUAL: Final = 8090
"""Where the page is unless somebody says otherwise; where that is taken, anywhere."""


class PortTaken(Exception):
    """Somebody else listens on the port that was asked for."""


def listening_on(port: int | None) -> socket.socket:
    """Listen on a port of loopback; without a wish, on the usual one or any other."""
    try:
        return socket.create_server(("127.0.0.1", USUAL if port is None else port))
    except OSError as exc:
        if port is not None:
            raise PortTaken(f"port {port} can't be had: {exc.strerror}") from exc
        return socket.create_server(("127.0.0.1", 0))


@asynccontextmanager
async def hosted(stage: Stage, listening: socket.socket) -> AsyncIterator[str]:
    """Serve the page for a while, and give its address."""
    runner = web.AppRunner(
        Site(stage).app(), handler_cancellation=True, shutdown_timeout=0.1, access_log=None
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        await runner.cleanup()


async def until_told(ask: Callable[[], None] = lambda: None) -> None:
    """Wait for Ctrl-C, or for being ended; `ask` runs once that is listened for."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(name, stop.set)
    ask()
    await stop.wait()
