"""Errands: small calls that nobody waits for, such as an explanation to one person.

They begin after what came in is durable, and are owned: none outlives the channel. One that fails
is worth a line in the log: what it was about has long been kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

_PATIENCE_SECONDS: Final = 2.0


class Errands:
    """What is under way for one channel."""

    def __init__(
        self, log: logging.Logger, failures: tuple[type[Exception], ...], *, most: int = 1_000
    ) -> None:
        """Take which exceptions are no bug of ours; more than `most` at once are dropped."""
        self._log = log
        self._failures = failures
        self._most = most
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, errand: Coroutine[Any, Any, None]) -> None:
        """Begin one."""
        if len(self._tasks) >= self._most:  # the other side is not answering
            errand.close()
            self._log.warning("errand dropped: too many are under way")
            return
        task = asyncio.create_task(self._quietly(errand))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def rested(self) -> None:
        """Wait until nothing is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """Give those under way a moment, then end them."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_PATIENCE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def _quietly(self, errand: Coroutine[Any, Any, None]) -> None:
        try:
            await errand
        except self._failures as exc:
            self._log.warning("errand failed", extra={"error": type(exc).__name__})
