"""The local database, for commands that need no server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.cli.doing import screen
from gateway.settings.environment import DatabaseSettings, load, warnings
from storage.seals import Seal
from storage.store import Store
from storage.urls import open_store

_Result = TypeVar("_Result")


def with_store(work: Callable[[Store], Awaitable[_Result]], *, seal: Seal | None = None) -> _Result:
    """Do something with the store that PARLEY_DATABASE_URL names, beside a server or alone.

    Who writes to threads brings the seal along.
    """
    url = load(DatabaseSettings).database_url
    for line in warnings():
        screen.say(f"parley: {line}")

    async def inside() -> _Result:
        store = open_store(url, shared=True, seal=seal)
        await store.open()
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(inside())
