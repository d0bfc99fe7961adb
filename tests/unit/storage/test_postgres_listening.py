"""Listening for hints: whatever breaks it, it begins anew."""

from __future__ import annotations

import asyncio

from storage.hints import Hints
from storage.postgres.listening import Listening


async def test_failure_that_nobody_foresaw_does_not_end_it() -> None:
    """Without hints everything is slow for ever, and nothing would say so."""
    tried: asyncio.Queue[None] = asyncio.Queue()

    async def connect() -> object:
        tried.put_nowait(None)
        raise RuntimeError("a driver's mistake")

    listening = Listening(connect, Hints())
    async with asyncio.timeout(5):
        await listening.start()
        for _ in range(3):
            await tried.get()
        await listening.stop()
