"""A lane: what is to be sent through one channel, and who sends it.

Each channel has its own, so that one that hangs holds up no other; and each message its own sender
in it, so that an address that hangs holds up no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

_Item = TypeVar("_Item")


class Lane(Generic[_Item]):
    """A queue with workers that come when there is something to do, and then go."""

    def __init__(self, do: Callable[[_Item], Awaitable[None]], at_once: int) -> None:
        """Begin with nothing to do."""
        self._do = do
        self._at_once = at_once
        self._queue: deque[_Item] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._is_one_coming = False

    def __len__(self) -> int:
        """Count what is queued and what is being done."""
        return len(self._queue) + len(self._workers)

    def add(self, item: _Item) -> None:
        """Have it done."""
        self._queue.append(item)
        self._call_one()

    async def drain(self, seconds: float) -> list[_Item]:
        """Wait a while for what is being done, and give back what was not begun."""
        left = list(self._queue)
        self._queue.clear()
        if self._workers:
            _, late = await asyncio.wait(self._workers, timeout=seconds)
            await _end(late)
        return left

    def _call_one(self) -> None:
        if self._queue and not self._is_one_coming and len(self._workers) < self._at_once:
            self._is_one_coming = True
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def _work(self) -> None:
        self._is_one_coming = False
        while self._queue:
            item = self._queue.popleft()
            self._call_one()  # for the rest: this one may take long
            await self._do(item)


async def _end(workers: Iterable[asyncio.Task[None]]) -> None:
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
