"""Machines that share one store, each with its HTTP server, channel, engine and sender."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from agent_core import Agent, ScriptedModel, says
from agent_core.models.scripted import Script
from agent_core.thread.events import Event, MessageReceived, Millis, ThreadId
from channels.channel import Channel
from channels.event.channel import EventChannel
from channels.webhook.channel import WebhookChannel
from channels.webhook.declaration import Source
from gateway.channel_wiring import open_channels
from gateway.control.keys import new_key
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.channel_routes import mount
from gateway.http.options import HttpOptions
from gateway.outbox.sender import Sender
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine, EngineOptions
from storage.memory import MemoryStore, MemoryTables
from storage.store import Store
from storage.values import ThreadRow, Wish
from tests.unit.channels.webhook.sender import NOW, sign
from tests.unit.gateway.http.house import Answer

QUICK = EngineOptions(lease_ms=3_000, poll_seconds=0.02, drain_seconds=5)


@dataclass
class Site:
    """The machines' addresses, their store, and a sender in front of them."""

    store: Store
    urls: list[str]
    sources: Mapping[str, Source]
    gateway: LocalGateway
    session: aiohttp.ClientSession
    key: str
    """Of the scope `answer`."""
    clock: list[float] = field(default_factory=lambda: [float(NOW)])

    async def post(
        self, body: bytes, headers: Mapping[str, str], name: str = "ci", machine: int = 0
    ) -> Answer:
        """Send raw bytes to one of the machines."""
        url = f"{self.urls[machine % len(self.urls)]}/hooks/{name}"
        async with self.session.post(url, data=io.BytesIO(body), headers=headers) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    async def sends(
        self,
        payload: Any,  # noqa: ANN401 (any JSON)
        name: str = "ci",
        machine: int = 0,
        **headers: str,
    ) -> Answer:
        """Send a payload, signed now."""
        body = json.dumps(payload).encode()
        proof = sign(self.sources[name].lock.scheme, body, int(self.clock[0]))
        more = {key.replace("_", "-"): value for key, value in headers.items()}
        return await self.post(body, {**proof, **more}, name, machine)

    async def reports(
        self,
        key: str,
        value: Any = None,  # noqa: ANN401 (any JSON)
        machine: int = 0,
        **headers: str,
    ) -> Answer:
        """Tell a machine by its API that something happened."""
        url = f"{self.urls[machine % len(self.urls)]}/v1/events"
        body = {"key": key, "value": value or {}}
        more = {name.replace("_", "-"): one for name, one in headers.items()}
        proof = {"Authorization": f"Bearer {self.key}"}
        async with self.session.post(url, json=body, headers={**proof, **more}) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    async def threads(self) -> list[ThreadRow]:
        """Give all threads, oldest first."""
        return (await self.store.threads(Wish(limit=200))).items[::-1]

    async def log(self, thread: str) -> list[Event]:
        """Give a thread's log."""
        return await self.store.events(ThreadId(thread))

    async def said(self, thread: str) -> list[str]:
        """Give what was said in a thread."""
        return [one.text for one in await self.log(thread) if isinstance(one, MessageReceived)]

    async def until(self, thread: str, status: str, texts: int = 0) -> ThreadRow:
        """Wait until a thread has a status, and so many texts."""
        async with asyncio.timeout(10):
            while True:
                row = await self.store.thread(ThreadId(thread))
                if row and row.status == status and len(await self.said(thread)) >= texts:
                    return row
                await asyncio.sleep(0.005)

    async def told(self, thread: str) -> None:
        """Wait until everybody who must hear of a thread has heard."""
        async with asyncio.timeout(10):
            while True:
                waiting = await self.store.deliveries(ThreadId(thread))
                if all(one.status == "sent" for one in waiting):
                    return
                await asyncio.sleep(0.005)


@asynccontextmanager
async def site(
    sources: Iterable[Source],
    *,
    machines: int = 1,
    script: Script | None = None,
    tools: Sequence[Any] = (),
    works: bool = True,
    most_queued: int = 10_000,
    store: Store | None = None,
) -> AsyncIterator[Site]:
    """Open it; without engines (`works`), threads stay queued."""
    agent = Agent("agent", tools=tools, model=ScriptedModel(script or (lambda _: says("done"))))
    agents = {"agent": agent}
    clock, tables = [float(NOW)], MemoryTables()
    named = {one.name: one for one in sources}
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(machines):
            own = store or MemoryStore(tables)
            await own.open()
            stack.push_async_callback(own.close)
            hints = Hints(own)
            events = EventChannel()
            channels: dict[str, Channel] = {
                "event": events,
                "webhook": WebhookChannel(named.values(), events=events, clock=lambda: clock[0]),
            }
            routing = Routing(Directory(), frozenset(channels))
            gateway = LocalGateway(own, agents, hints, most_queued=most_queued, routing=routing)
            await stack.enter_async_context(
                open_channels(
                    channels, gateway, own, Directory(), {}, secret=b"s" * 32, receives=True
                )
            )
            parts = [hints.run()]
            if works:
                parts += [
                    Engine(own, agents, hints, options=QUICK, routing=routing).run(),
                    Sender(own, channels, hints).run(),
                ]
            tasks = [asyncio.create_task(part) for part in parts]
            stack.push_async_callback(_stop, tasks)
            options = HttpOptions(requests_per_second=1e9, burst=10**9)
            app = make_app(gateway, own, options, events=events)
            mount(app, channels.values(), options)
            runner = await run_app(app, "127.0.0.1", 0)
            stack.push_async_callback(runner.cleanup)
            opened.append((own, f"http://127.0.0.1:{runner.addresses[0][1]}", gateway))
        key, row = new_key("deploys", ["answer"], now=Millis(0))
        await opened[0][0].add_key(row)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        urls = [url for _, url, _ in opened]
        yield Site(opened[0][0], urls, named, opened[0][2], session, key, clock)


async def _stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
