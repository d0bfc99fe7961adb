"""Small calls to Slack that nobody waits for: an explanation, a fresh Home page.

They begin after what came in is durable, and are owned: none outlives the channel.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from channels.channel import ChannelError
from channels.slack.clients import UNREACHABLE

_log = logging.getLogger("parley.slack")
_PATIENCE_SECONDS: Final = 2.0
_MOST: Final = 1_000
"""More than that at once, and Slack is not answering: the rest is dropped."""


class Errands:
    """What is under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, errand: Coroutine[Any, Any, None]) -> None:
        """Begin one."""
        if len(self._tasks) >= _MOST:
            errand.close()
            _log.warning("slack errand dropped: too many are under way")
            return
        task = asyncio.create_task(_quietly(errand))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give those under way a moment, then end them."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_PATIENCE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


async def _quietly(errand: Coroutine[Any, Any, None]) -> None:
    """A failed errand is worth a line: what it was about has long been kept."""
    try:
        await errand
    except (*UNREACHABLE, ChannelError) as exc:
        _log.warning("slack errand failed", extra={"error": type(exc).__name__})
