"""Endpoints that fail: since when, and which are disabled. Kept in the channel's sealed memory.

Nothing is kept of one that works. One that has failed for days without one success is disabled:
what is meant for it fails at once, until an operator enables it. What was sealed with another
secret key is found out anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from channels.callback.addresses import Target, mark
from channels.intake import Memory, SealBroken

PATIENCE_MS: Final = 5 * 24 * 3_600_000
FAILING: Final = "failing:"
DISABLED: Final = "disabled:"


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with an endpoint."""

    endpoint: str
    since: int
    """When it failed first, after it had worked; in milliseconds since 1970."""
    error: str
    disabled_at: int | None = None


class Endpoints:
    """The record of those that fail."""

    def __init__(self, memory: Memory, now: Callable[[], int]) -> None:
        self._memory = memory
        self._now = now

    async def disabled(self, target: Target) -> Trouble | None:
        """Give why nothing is sent there, if that is so."""
        return await self._trouble(DISABLED + mark(target.endpoint))

    async def succeeded(self, target: Target) -> None:
        """Forget what was."""
        key = FAILING + mark(target.endpoint)
        if await self._trouble(key) is not None:
            await self._memory.keep(key, None)

    async def failed(self, target: Target, error: str) -> Trouble:
        """Note it; give the trouble, which says whether the endpoint is disabled from now on."""
        key = FAILING + mark(target.endpoint)
        before = await self._trouble(key)
        now = self._now()
        if before is None:
            new = Trouble(endpoint=target.endpoint, since=now, error=error)
            await self._memory.keep(key, msgspec.json.encode(new))
            return new
        if now - before.since < PATIENCE_MS:
            return before
        return await self.disable(target, error, since=before.since)

    async def disable(self, target: Target, error: str, *, since: int | None = None) -> Trouble:
        """Send nothing there any more."""
        name, now = mark(target.endpoint), self._now()
        trouble = Trouble(
            endpoint=target.endpoint,
            since=now if since is None else since,
            error=error,
            disabled_at=now,
        )
        await self._memory.keep(DISABLED + name, msgspec.json.encode(trouble))
        await self._memory.keep(FAILING + name, None)
        return trouble

    async def enable(self, endpoint: str) -> bool:
        """Send there again, with new patience; False if it was not disabled."""
        name = mark(endpoint)
        await self._memory.keep(FAILING + name, None)
        try:
            return await self._memory.take(DISABLED + name) is not None
        except SealBroken:  # it was, whatever it said
            return True

    async def troubles(self) -> list[Trouble]:
        """List all that fail or are disabled."""
        found = []
        for prefix in (DISABLED, FAILING):
            for key in await self._memory.keys(prefix):
                trouble = await self._trouble(key)
                if trouble is not None:  # else it was mended just now
                    found.append(trouble)
        return found

    async def counts(self) -> tuple[int, int]:
        """Tell how many fail, and how many are disabled."""
        failing = await self._memory.keys(FAILING)
        return len(failing), len(await self._memory.keys(DISABLED))

    async def _trouble(self, key: str) -> Trouble | None:
        try:
            kept = await self._memory.recall(key)
        except SealBroken:  # forgotten, so that it is not counted, either
            await self._memory.keep(key, None)
            return None
        return None if kept is None else msgspec.json.decode(kept, type=Trouble)
