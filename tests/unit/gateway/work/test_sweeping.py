"""Sweeping: what has expired goes, and trouble with the store ends nothing."""

from __future__ import annotations

import asyncio

from agent_core import HandDrivenWorld
from agent_core.thread.events import Millis
from gateway.work.sweeping import sweep_for_ever
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from tests.unit.gateway.workshop import stop, until


class DustyStore(MemoryStore):
    """A store that fails the first time, and counts how often it was swept."""

    times = 0

    async def sweep(self, *, now: Millis, limit: int = 1000) -> int:
        """Fail once, then sweep."""
        self.times += 1
        if self.times == 1:
            raise StoreBusy("busy", retry_after=0)
        return await super().sweep(now=now, limit=limit)


async def test_expired_things_are_forgotten_again_and_again() -> None:
    """Also after the store had trouble; what has time left stays."""
    store, clock = DustyStore(), HandDrivenWorld()
    await store.open()
    now = clock.moment
    for number in range(1200):
        await store.keep("slack", f"old{number}", b"x", now=now, expires_at=Millis(now + 1))
    await store.keep("slack", "new", b"x", now=now, expires_at=Millis(now + 60_000))
    clock.pass_time(1)
    task = asyncio.create_task(sweep_for_ever(store, world=clock.world, every_seconds=0.01))
    await until(lambda: store.times > 5)
    await stop(task)

    assert await store.kept("slack", now=now) == ["new"]
