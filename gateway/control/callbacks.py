"""Callbacks, for the operator: which endpoints fail, what was not sent, and sending it again."""

from __future__ import annotations

from collections import Counter

from agent_core.json_values import JsonObject
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime
from channels.callback.addresses import PREFIX, BadCallback, parse_address, parse_target
from channels.callback.endpoints import Endpoints, Trouble
from channels.intake import Memory
from gateway.control.callback_views import CallbackList, CallbackView, Enable, Replay, ReplayView
from gateway.control.service import NotFound
from storage.store import Store
from storage.values import FailedWish

_PAGE = 1000
_MOST = 10_000
"""Of what has failed, so much is counted; all of it can be sent again."""


class Callbacks:
    """What an operator may see and do."""

    def __init__(self, store: Store, memory: Memory, *, world: World | None = None) -> None:
        """Take the memory of the channel: it keeps the record of what fails."""
        self._store = store
        self._world = world or World()
        self._endpoints = Endpoints(memory, self._world.now)

    async def show(self) -> CallbackList:
        """List the endpoints that fail, are disabled, or have not got all that they should."""
        troubles = {one.endpoint: one for one in reversed(await self._endpoints.troubles())}
        rows = await self._store.failed_deliveries(FailedWish(prefix=PREFIX, limit=_MOST))
        failed = Counter(_endpoint(row.address) for row in rows)
        names = sorted({*troubles, *failed})
        return CallbackList(items=[_view(name, troubles.get(name), failed[name]) for name in names])

    async def replay(self, wish: Replay) -> ReplayView:
        """Put what has failed back into the outbox, in its old order."""
        since = None if wish.since is None else Millis(round(wish.since.timestamp() * 1000))
        asked = FailedWish(prefix=PREFIX, thread=wish.thread, since=since, limit=_PAGE)
        if not wish.url:
            return ReplayView(replayed=await self._requeue(asked))
        addresses = await self._addresses(wish.url)
        sent = [
            await self._requeue(
                FailedWish(prefix=PREFIX, address=one, thread=wish.thread, since=since, limit=_PAGE)
            )
            for one in addresses
        ]
        return ReplayView(replayed=sum(sent))

    async def enable(self, wish: Enable) -> CallbackView:
        """Send to an endpoint again; what has failed meanwhile waits for `replay`."""
        endpoint = parse_target(wish.url).endpoint
        if not await self._endpoints.enable(endpoint):
            raise NotFound("no endpoint of this URL is disabled; GET /v1/callbacks lists them")
        listed = (await self.show()).items
        found = next((one for one in listed if one.url == endpoint), None)
        return found or _view(endpoint, None, 0)

    async def figures(self) -> dict[str, int]:
        """Count the endpoints in trouble, for `/metrics`."""
        failing, disabled = await self._endpoints.counts()
        return {"failing": failing, "disabled": disabled}

    async def _addresses(self, url: str) -> list[str]:
        """Find the very addresses that failed at an endpoint: they differ in their queries."""
        endpoint = parse_target(url).endpoint
        rows = await self._store.failed_deliveries(FailedWish(prefix=PREFIX, limit=_MOST))
        return sorted({row.address for row in rows if _endpoint(row.address) == endpoint})

    async def _requeue(self, wish: FailedWish) -> int:
        total = 0
        while done := await self._store.requeue_deliveries(wish, now=self._world.now()):
            total += done
            if done < wish.limit:
                break
        return total


def _endpoint(address: str) -> str:
    try:
        return parse_address(address).endpoint
    except BadCallback:  # it came with a thread from elsewhere
        return address.removeprefix(PREFIX)


def _view(endpoint: str, trouble: Trouble | None, failed: int) -> CallbackView:
    known: JsonObject = {}
    if trouble is not None:
        off = trouble.disabled_at
        known = {
            "status": "failing" if off is None else "disabled",
            "failing_since": as_datetime(Millis(trouble.since)),
            "disabled_at": None if off is None else as_datetime(Millis(off)),
            "error": trouble.error,
        }
    return CallbackView(url=endpoint, failed=failed, **known)
