"""The sender: takes what must be said from the outbox, and hands it to the channel it is for.

At least once, in order within a thread and address. A try that fails is put back with a growing
delay; one that can't ever succeed is marked failed, and stays to be seen.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass

from agent_core.json_values import JsonObject, plain_object
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from channels.channel import Channel, ChannelError, GiveUp, Outgoing, TryLater
from gateway.hints import Hints, heard_or_later
from storage.errors import StoreError
from storage.store import Store
from storage.values import Delivery

_log = logging.getLogger("parley.sender")

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 600.0


@dataclass(frozen=True, kw_only=True)
class SenderOptions:
    """How many at once, and how long one try may take."""

    at_once: int = 32
    lease_ms: int = 60_000
    timeout_seconds: float = 30.0
    poll_seconds: float = 2.0
    most_attempts: int = 20
    drain_seconds: float = 5.0


class Sender:
    """Sends this process's share of the outbox."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        hints: Hints,
        *,
        world: World | None = None,
        options: SenderOptions | None = None,
    ) -> None:
        self._store = store
        self._channels = channels
        self._hints = hints
        self._world = world or World()
        self._options = options or SenderOptions()

    async def run(self) -> None:
        """Send until cancelled; what was under way is finished or found again by its lease."""
        async with self._hints.watching("deliveries") as heard:
            while True:
                if not await self._finish(self._send_due()):
                    await heard_or_later(heard, self._options.poll_seconds)

    async def _finish(self, round_: Coroutine[None, None, bool]) -> bool:
        """Let a round end also when we are told to stop: what it claimed, nobody else can send."""
        task = asyncio.create_task(round_)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task], timeout=self._options.drain_seconds)
            raise

    async def _send_due(self) -> bool:
        try:
            due = await self._store.claim_deliveries(
                now=self._world.now(), lease_ms=self._options.lease_ms, limit=self._options.at_once
            )
            await asyncio.gather(*(self._send(delivery) for delivery in due))
        except StoreError:
            _log.exception("outbox failed")
            return False
        return bool(due)

    async def _send(self, delivery: Delivery) -> None:
        try:
            receipt = await self._try(delivery)
        except ChannelError as exc:
            await self._put_back(delivery, exc)
        else:
            await self._store.end_delivery(delivery, status="sent", receipt=receipt)

    async def _try(self, delivery: Delivery) -> JsonObject:
        channel = self._channels.get(delivery.address.partition(":")[0])
        if channel is None:
            raise GiveUp(f"there is no channel for {delivery.address.partition(':')[0]!r}")
        message = Outgoing(
            id=delivery.id,
            thread=delivery.thread,
            address=delivery.address,
            body=delivery.body,
            attempt=delivery.attempts,
        )
        try:
            async with asyncio.timeout(self._options.timeout_seconds):
                return plain_object(await channel.send(message), "receipt")
        except ChannelError:
            raise
        except Exception as exc:
            _log.exception("channel failed", extra={"delivery_id": delivery.id})
            raise TryLater(type(exc).__name__) from exc

    async def _put_back(self, delivery: Delivery, exc: ChannelError) -> None:
        final = not isinstance(exc, TryLater) or delivery.attempts >= self._options.most_attempts
        if final:
            await self._store.end_delivery(delivery, status="failed", error=str(exc))
            return
        grown = min(_FIRST_DELAY * 2 ** min(delivery.attempts, 20), _LONGEST_DELAY)
        seconds = max(grown, getattr(exc, "retry_after", None) or 0.0)
        due_at = Millis(self._world.now() + round(seconds * 1000 * (1 + self._world.random() / 4)))
        await self._store.end_delivery(delivery, status="pending", due_at=due_at, error=str(exc))
