"""Waiting for something to have happened, without sleeping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Changes:
    """Everyone who changes something says so; whoever waits looks again."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Say that something is different now."""
        self.count += 1
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def until(self, condition: Callable[[], T | None], within: float) -> T:
        """Wait until the condition gives something true, and give that."""
        async with asyncio.timeout(within):
            while not (found := condition()):
                await self._next()
            return found

    async def _next(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)
