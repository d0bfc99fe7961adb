"""A program that gets callbacks: a real server on loopback, which answers as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks.webhooks import Webhook


@dataclass(frozen=True)
class Got:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """The message's own id."""
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:  # noqa: ANN401 (any JSON)
        """What it says."""
        return json.loads(self.body)

    @property
    def type(self) -> str:
        """What happened."""
        return str(self.json["type"])

    def verify(self, secret: str) -> None:
        """Check it as a receiver would, with a library that is not ours."""
        Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """What came, and what is answered: by script, then 204 for ever."""

    port: int = 0
    got: list[Got] = field(default_factory=list)
    script: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/in"

    def answers(self, *statuses: int, **headers: str) -> None:
        """Answer the next requests so."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.script += [(status, named) for status in statuses]

    async def take(self, request: web.Request) -> web.Response:
        """Write it down, and answer."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.read()
        status, more = self.script.pop(0) if self.script else (204, {})
        self.got.append(Got(request.path, headers, body))
        async with self.came:
            self.came.notify_all()
        return web.Response(status=status, headers=more)

    async def until(self, count: int) -> list[Got]:
        """Wait until so many have come, and give them."""
        async with asyncio.timeout(20), self.came:
            await self.came.wait_for(lambda: len(self.got) >= count)
        return self.got


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """Open one."""
    opened = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", opened.take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    opened.port = runner.addresses[0][1]
    try:
        yield opened
    finally:
        await runner.cleanup()
