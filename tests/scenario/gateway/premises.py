"""A whole installation behind a real socket: a store, the engine, the sender, the control API.

The engine can be stopped and started like a process of its own, with the same agents or others;
the store outlives it. Names in the log are those of the keys: `admin`, `answer` and so on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from agent_core import Agent
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadId
from channels.web.channel import WebChannel
from gateway.control.keys import SCOPES, new_key
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.connections import DeadlineRunner
from gateway.http.options import HttpOptions
from gateway.outbox.sender import Sender
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine, EngineOptions
from storage.memory import MemoryStore
from storage.sqlite import SqliteStore
from storage.store import Store
from storage.values import Delivery
from tests.unit.gateway.http.house import NOTHING, Answer

YES = {"approved": True}
NO = {"approved": False}
QUICK = EngineOptions(lease_ms=3_000, poll_seconds=0.02, drain_seconds=5)


@dataclass
class Premises:
    """What a test can do from outside, and the power switch of the engine."""

    store: Store
    agents: dict[str, Agent]
    hints: Hints
    gateway: LocalGateway
    runner: DeadlineRunner
    keys: Mapping[str, str]
    session: aiohttp.ClientSession
    world: World | None = None
    options: EngineOptions = QUICK
    engine: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.runner.addresses[0][1]}"

    def bearer(self, key: str) -> dict[str, str]:
        """Give the header of a key."""
        return {"Authorization": f"Bearer {self.keys[key]}"}

    async def call(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,  # noqa: ANN401 (any JSON)
        *,
        key: str = "admin",
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Call the API and read the whole response."""
        given: dict[str, Any] = {} if body is NOTHING else {"json": body}
        sent = {"Content-Type": "application/json"} if data is not None else {}
        async with self.session.request(
            method,
            f"{self.url}{path}",
            data=data,
            headers={**self.bearer(key), **sent, **(headers or {})},
            **given,
        ) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    # The calls that stories are made of

    async def launch(self, agent: str = "agent", text: str = "hello", **more: Any) -> str:  # noqa: ANN401 (any JSON)
        """Launch, and give the id without waiting."""
        launched = await self.call("POST", "/v1/threads", {"agent": agent, "text": text, **more})
        assert launched.status in {200, 201}, launched
        return str(launched.json["id"])

    async def rested(self, thread: str) -> Any:  # noqa: ANN401 (any JSON)
        """Wait until a thread rests, and show it."""
        shown = (await self.call("GET", f"/v1/threads/{thread}?wait=20")).json
        assert shown["status"] not in {"queued", "running"}, shown
        return shown

    async def asked(self, thread: str) -> str:
        """Wait until a thread waits for people, and give the id of its one open question."""
        (question,) = (await self.rested(thread))["questions"]
        return str(question["id"])

    async def tell(self, thread: str, command: str, body: Any = NOTHING) -> Answer:  # noqa: ANN401 (any JSON)
        """Give a command to a thread, or say something to it."""
        return await self.call("POST", f"/v1/threads/{thread}/{command}", body)

    async def answer(
        self,
        question: str,
        value: Any,  # noqa: ANN401 (any JSON)
        *,
        key: str = "answer",
        comment: str = "",
    ) -> Answer:
        """Answer a question."""
        body = {"value": value, "comment": comment}
        return await self.call("POST", f"/v1/questions/{question}/answer", body, key=key)

    async def question(self, question: str) -> Any:  # noqa: ANN401 (any JSON)
        """Show a question."""
        return (await self.call("GET", f"/v1/questions/{question}")).json

    async def log(self, thread: str) -> list[dict[str, Any]]:
        """Read a whole log."""
        items: list[dict[str, Any]] = (
            await self.call("GET", f"/v1/threads/{thread}/events?limit=1000")
        ).json["items"]
        return items

    async def types(self, thread: str) -> list[str]:
        """Name a thread's events."""
        return [event["type"] for event in await self.log(thread)]

    async def until(self, thread: str, kind: str, times: int = 1) -> dict[str, Any]:
        """Follow a log live until there are so many events of a type, and give the last."""
        async with asyncio.timeout(20):
            async for event in self.follow(thread):
                times -= event["type"] == kind
                if times == 0:
                    return event
        raise AssertionError(kind)

    async def follow(self, thread: str, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """Read a log as a stream, from an event on."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        where = f"{self.url}/v1/threads/{thread}/events"
        headers |= self.bearer("read")
        async with self.session.get(where, headers=headers) as response:
            assert response.status == 200
            async for line in response.content:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    async def deliveries(self, thread: str) -> list[Delivery]:
        """Look into the outbox."""
        return await self.store.deliveries(ThreadId(thread))

    # The engine's switch

    async def start(self) -> None:
        """Start an engine, as a new process would."""
        engine = Engine(self.store, self.agents, self.hints, world=self.world, options=self.options)
        self.engine = asyncio.create_task(engine.run())

    async def stop(self) -> None:
        """Stop the engine in order, if it runs."""
        if self.engine is not None:
            self.engine.cancel()
            await asyncio.gather(self.engine, return_exceptions=True)
            self.engine = None

    async def deploy(self, *agents: Agent) -> None:
        """Stop, and start with these agents in place of those that were."""
        await self.stop()
        self.agents.clear()
        self.agents.update({agent.name: agent for agent in agents})
        await self.start()


def in_file(folder: Path, name: str = "parley.db") -> Store:
    """Give a store in a file, not opened yet."""
    return SqliteStore(folder / name)


def in_memory(_folder: Path) -> Store:
    """Give a store in this process, not opened yet."""
    return MemoryStore()


KINDS: dict[str, Callable[[Path], Store]] = {"sqlite": in_file, "memory": in_memory}


@asynccontextmanager
async def premises(
    store: Store,
    *agents: Agent,
    world: World | None = None,
    works: bool = True,
    most_queued: int = 10_000,
    options: EngineOptions = QUICK,
) -> AsyncIterator[Premises]:
    """Open an installation; without an engine (`works`), threads stay queued."""
    await store.open()
    made = {scope: new_key(scope, [scope], now=Millis(0)) for scope in SCOPES}
    for _, row in made.values():
        await store.add_key(row)
    keys: dict[str, str] = {scope: text for scope, (text, _) in made.items()}
    known = {agent.name: agent for agent in agents}
    hints = Hints(store)
    gateway = LocalGateway(store, known, hints, world=world, most_queued=most_queued)
    sender = Sender(store, {"web": WebChannel()}, hints, world=world)
    tasks = [asyncio.create_task(part) for part in (hints.run(), sender.run())]
    http = HttpOptions(requests_per_second=10_000, burst=10_000)
    runner = await run_app(make_app(gateway, store, http), "127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession() as session:
            opened = Premises(
                store, known, hints, gateway, runner, keys, session, world=world, options=options
            )
            if works:
                await opened.start()
            yield opened
            await opened.stop()
    finally:
        await runner.cleanup()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await store.close()
