"""Sweeping: what has expired is forgotten, a little at a time, as long as the server runs."""

from __future__ import annotations

import asyncio
import logging

from agent_core.loop.world import World
from storage.errors import StoreError
from storage.store import Store

_log = logging.getLogger("parley.sweeping")

_EVERY_SECONDS = 60.0
_AT_ONCE = 500


async def sweep_for_ever(
    store: Store, *, world: World | None = None, every_seconds: float = _EVERY_SECONDS
) -> None:
    """Forget expired inbox keys and what channels kept for a time only, until cancelled."""
    world = world or World()
    while True:
        try:
            swept = await store.sweep(now=world.now(), limit=_AT_ONCE)
        except StoreError:
            _log.exception("sweep failed")
            swept = 0
        if swept < _AT_ONCE:  # else there is more: go on at once
            await asyncio.sleep(every_seconds)
