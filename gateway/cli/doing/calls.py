"""Calls to the server, from a command: one client, one event loop, one progress line."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from gateway.cli.doing import screen
from gateway.http.client import Client, Reply
from gateway.settings.environment import ClientSettings, load, warnings

_Result = TypeVar("_Result")
Work: TypeAlias = Callable[[Client, screen.Progress], Awaitable[_Result]]


def with_client(work: Work[_Result], waiting: str) -> _Result:
    """Do something with a client; Ctrl-C leaves with 130, and what the server does goes on."""
    settings = load(ClientSettings)
    for line in warnings():
        screen.say(f"parley: {line}")

    async def inside() -> _Result:
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        async with Client(settings.url, key) as client:
            with screen.progress(waiting) as line:
                return await work(client, line)

    try:
        return asyncio.run(inside())
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def get(path: str, query: dict[str, object], waiting: str) -> Reply:
    """Read something."""
    return with_client(lambda client, _: client.get(path, query), waiting)


def post(path: str, body: object, waiting: str) -> Reply:
    """Have something done."""
    return with_client(lambda client, _: client.post(path, body), waiting)
