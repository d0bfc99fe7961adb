"""`parley serve`: the one place that names concrete classes and puts them together.

Start: settings, agents, store, then the parts of the role. End, on SIGTERM or Ctrl-C: no new
requests, then the engine drains and gives its leases back, then the store closes.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from agent_core import Agent
from channels.web.channel import WebChannel
from gateway import failpoints
from gateway.agents import load_agents
from gateway.engine import Engine
from gateway.hints import Hints
from gateway.http.app import make_app, run_app
from gateway.http.options import HttpOptions
from gateway.keys import secret_key
from gateway.local import LocalGateway
from gateway.sender import Sender
from gateway.settings import Settings
from storage.store import Store
from storage.urls import open_store

Role = Literal["all", "web", "worker"]

_log = logging.getLogger("parley.server")


@dataclass(frozen=True)
class Parts:
    """What a process of a role is made of."""

    store: Store
    agents: Mapping[str, Agent]
    hints: Hints
    gateway: LocalGateway


async def serve(settings: Settings, role: Role = "all") -> None:
    """Serve until told to stop."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    agents = load_agents(settings.agents)
    secret_key(settings)  # made now, so that a restart signs with the same one
    async with parts(settings, agents) as made, _running(made, settings, role, stop):
        await stop.wait()
        _log.info("stopping")


@asynccontextmanager
async def parts(settings: Settings, agents: Mapping[str, Agent]) -> AsyncIterator[Parts]:
    """Open the store and put the gateway on it."""
    store = failpoints.rigged(open_store(settings.database_url))
    await store.open()
    try:
        hints = Hints(store)
        yield Parts(store, agents, hints, LocalGateway(store, agents, hints))
    finally:
        await store.close()


@asynccontextmanager
async def _running(
    made: Parts, settings: Settings, role: Role, stop: asyncio.Event
) -> AsyncIterator[None]:
    """Start the parts of a role, each on top of what it needs; stop them in reverse."""

    async def start(part: Coroutine[None, None, None]) -> None:
        await stack.enter_async_context(_background(part, stop))

    async with AsyncExitStack() as stack:
        await start(made.hints.run())
        if role != "web":
            channels = {channel.name: channel for channel in (WebChannel(),)}
            sender = Sender(made.store, channels, made.hints, options=failpoints.sender_options())
            engine = Engine(
                made.store, made.agents, made.hints, options=failpoints.engine_options()
            )
            await start(sender.run())
            await start(engine.run())
        if role != "worker":
            app = make_app(made.gateway, made.store, HttpOptions(shutdown_grace=5))
            runner = await run_app(app, settings.host, settings.port)
            stack.push_async_callback(runner.cleanup)
            _log.info("listening", extra={"port": runner.addresses[0][1]})
        yield


@asynccontextmanager
async def _background(
    part: Coroutine[None, None, None], stop: asyncio.Event
) -> AsyncIterator[None]:
    """Run a part beside the rest; if it breaks, everything stops, and its error is raised."""
    task = asyncio.create_task(part)
    task.add_done_callback(lambda _task: stop.set())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
