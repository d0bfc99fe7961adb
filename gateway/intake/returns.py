"""Returns: what was sent has come back, so the person is told at their next address.

A bounce comes minutes or days after a channel has taken a message for sent. It may come twice, and
a try to follow it may end half-way: each part here can be done again without harm.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from agent_core.loop.world import World
from agent_core.thread.events import ThreadId
from channels.channel import Channel
from channels.inbound import Undelivered
from channels.intake import Received
from gateway.control.service import TooBusy
from gateway.outbox.rerouting import Rerouting
from gateway.people.directory import Directory
from gateway.telemetry.figures import Figures
from storage.store import Store
from storage.values import Delivery, DeliveryEnd

_log = logging.getLogger("parley.posting")

_SOON_SECONDS = 60.0
_LONGEST_REASON = 500


class Returns:
    """Takes back what could not be delivered."""

    def __init__(
        self,
        store: Store,
        channels: Mapping[str, Channel],
        people: Directory,
        world: World,
        figures: Figures | None = None,
    ) -> None:
        self._store = store
        self._rerouting = Rerouting(store, channels, people, figures)
        self._world = world

    async def take_back(self, came: Undelivered) -> Received:
        """Mark the delivery failed, once, and send it to the person's next address, once."""
        delivery = await self._delivery(came)
        if delivery is None or delivery.status == "settled":
            return Received(effect="ignored")
        if delivery.status == "pending":  # it came back faster than its end was recorded
            raise TooBusy("the message is still being sent", retry_after=_SOON_SECONDS)
        # In this order: whoever finds it marked may rely on the rest having been done.
        await self._rerouting.reroute(delivery, self._world.now())
        reason = f"came back: {came.reason}"[:_LONGEST_REASON]
        end = DeliveryEnd(delivery=delivery, status="failed", error=reason)
        [is_first] = await self._store.end_deliveries([end])
        ids = {"thread_id": delivery.thread, "delivery_id": delivery.id}
        _log.warning("message came back", extra={**ids, "is_first": is_first})
        return Received(effect="taken" if is_first else "copy", thread=delivery.thread)

    async def _delivery(self, came: Undelivered) -> Delivery | None:
        thread = ThreadId(came.delivery.partition(".")[0])
        wanted, channel = came.delivery.lower(), came.place.partition(":")[0]
        for one in await self._store.deliveries(thread):
            if one.id.lower() == wanted and one.address.partition(":")[0] == channel:
                return one
        return None
