"""A whole gateway behind a real socket: store in memory, engine, control API, and a client.

What was sent and came back is plain values; a key of each scope is there, named for its scope.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from agent_core import Agent, ModelReply, ModelRequest, ScriptedModel, call, calls, says, tool
from agent_core.thread.events import Millis
from channels.event.channel import EventChannel
from channels.recording import DictMemory
from gateway.channel_wiring import open_channels
from gateway.control.callbacks import Callbacks
from gateway.control.keys import SCOPES, new_key
from gateway.control.local import LocalGateway
from gateway.http.app import make_app, run_app
from gateway.http.connections import DeadlineRunner
from gateway.http.options import HttpOptions
from gateway.people.directory import Directory
from gateway.retention.on_demand import Purger
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine
from storage.memory import MemoryStore
from storage.values import ApiKey
from tests.doubles.seals import seal

NOTHING: Any = object()
QUICK = HttpOptions(header_deadline=0.3, body_deadline=0.3, write_deadline=0.3, heartbeat=0.1)


@tool(approval=True)
async def refund(order: str) -> str:
    """Pay the customer back."""
    return f"paid back {order}"


def decide(request: ModelRequest) -> ModelReply:
    """Ask for leave when a refund is wanted; otherwise say that it is done."""
    last = request.messages[-1]
    if last["role"] == "user" and "refund" in str(last["content"]):
        return calls(call("refund", order="A1"))
    return says(f"done: {last['content']}")


@dataclass(frozen=True)
class Answer:
    """A response, read to its end."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:  # noqa: ANN401 (any JSON)
        """The body as JSON."""
        return json.loads(self.text)

    @property
    def problem(self) -> str:
        """The name of the problem that it tells, which must be told as RFC 9457 has it."""
        assert self.headers["Content-Type"] == "application/problem+json", self
        told = self.json
        assert told["status"] == self.status
        assert told["instance"] == self.headers["X-Request-Id"]
        assert {"title", "detail"} <= told.keys()
        return str(told["type"]).removeprefix("/problems/")


@dataclass
class House:
    """The gateway's address, its store, and a client with its keys."""

    store: MemoryStore
    gateway: LocalGateway
    runner: DeadlineRunner
    keys: Mapping[str, str]
    rows: Mapping[str, ApiKey]
    session: aiohttp.ClientSession

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.runner.addresses[0][1])

    @property
    def url(self) -> str:
        """Where it listens, for a client."""
        return f"http://127.0.0.1:{self.port}"

    def bearer(self, key: str = "admin") -> dict[str, str]:
        """Give the header of a key, by its scope's name or as it is."""
        return {"Authorization": f"Bearer {self.keys.get(key, key)}"} if key else {}

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
        sent = {"Content-Type": "application/json"} if data is not None else {}
        given = {} if body is NOTHING else {"json": body}
        async with self.session.request(
            method,
            f"{self.url}{path}",
            data=data,
            headers={**self.bearer(key), **sent, **(headers or {})},
            **given,
        ) as response:
            return Answer(response.status, response.headers.copy(), await response.text())

    async def launch(self, text: str = "hello", wait: int = 20) -> Any:  # noqa: ANN401 (any JSON)
        """Launch a thread and wait until it rests."""
        launched = await self.call(
            "POST", f"/v1/threads?wait={wait}", {"agent": "support", "text": text}
        )
        assert launched.status == 201, launched
        return launched.json


@asynccontextmanager
async def house(
    options: HttpOptions = QUICK,
    *,
    script: Callable[[ModelRequest], ModelReply] = decide,
    gateway: type[LocalGateway] = LocalGateway,
    works: bool = True,
) -> AsyncIterator[House]:
    """Open the house; without an engine (`works`), threads stay queued."""
    store = MemoryStore()
    await store.open()
    made = {scope: new_key(scope, [scope], now=Millis(0)) for scope in SCOPES}
    for _, row in made.values():
        await store.add_key(row)
    agents = {"support": Agent("support", tools=[refund], model=ScriptedModel(script))}
    hints = Hints(store)
    desk = gateway(store, agents, hints)
    work = [hints.run(), *([Engine(store, agents, hints).run()] if works else [])]
    tasks = [asyncio.ensure_future(one) for one in work]
    events = EventChannel()
    own = open_channels(
        {"event": events}, desk, store, Directory(), {}, secret=b"s" * 32, receives=True
    )
    callbacks = Callbacks(store, DictMemory())
    purger = Purger(store, seal, DictMemory())
    app = make_app(desk, store, options, events=events, callbacks=callbacks, purger=purger)
    runner = await run_app(app, "127.0.0.1", 0)
    keys: dict[str, str] = {scope: text for scope, (text, _) in made.items()}
    rows: dict[str, ApiKey] = {scope: row for scope, (_, row) in made.items()}
    try:
        async with own, aiohttp.ClientSession() as session:
            yield House(store, desk, runner, keys, rows, session)
    finally:
        await runner.cleanup()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await store.close()
