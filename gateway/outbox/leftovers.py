"""Leftovers: copies that were sent, and whose sending could not be recorded any more.

A sender's lease may be taken over while it sends: its machine stood still, or another's clock runs
ahead. Then two have sent the same, and the store knows the receipt of one. A card must not keep its
buttons for that reason. What is posted before the question ends is found by who settles it
(`Outgoing.tries`); what is posted after that only its sender knows of, and sees to it here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from agent_core.loop.world import World
from channels.channel import ChannelError
from gateway.outbox.lane import Lane
from gateway.outbox.posting import Posting
from storage.errors import StoreError
from storage.values import DeliveryEnd

_log = logging.getLogger("parley.sender")

_AT_ONCE: Final = 4
_TRIES: Final = 8
_FIRST_DELAY: Final = 1.0
_TIMEOUT_SECONDS: Final = 30.0


class Leftovers:
    """What this process has sent in vain."""

    def __init__(self, posting: Posting, world: World) -> None:
        """Begin with none."""
        self._posting = posting
        self._world = world
        self._lane: Lane[DeliveryEnd] = Lane(self._settle, _AT_ONCE)

    def look_at(self, ends: Iterable[DeliveryEnd], recorded: Iterable[bool]) -> None:
        """Take those that were sent, and that somebody else has by now."""
        for end, is_recorded in zip(ends, recorded, strict=True):
            if end.status == "sent" and end.receipt and not is_recorded:
                self._lane.add(end)

    async def drain(self, seconds: float) -> None:
        """Give what is under way a moment."""
        await self._lane.drain(seconds)

    async def _settle(self, end: DeliveryEnd) -> None:
        """Show in it how its question ended, if it has; a few times, for nobody else can."""
        ids = {"thread_id": end.delivery.thread, "delivery_id": end.delivery.id}
        for attempt in range(_TRIES):
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    return await self._posting.settle_uncounted(end.delivery, end.receipt or {})
            except (ChannelError, StoreError, TimeoutError) as exc:
                why = f"{type(exc).__name__}: {exc}"
                _log.info("leftover not settled yet", extra={**ids, "error": why})
            await self._world.sleep(_FIRST_DELAY * 2**attempt)
        _log.warning("leftover not settled", extra=ids)
        return None
