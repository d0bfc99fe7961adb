"""The `web` channel. Sending is making it readable, and the log already is."""

from __future__ import annotations

from agent_core.json_values import JsonObject
from channels.channel import GiveUp, Outgoing


class WebChannel:
    """Addresses are `web:THREAD`; the receipt says where to read."""

    name = "web"

    async def send(self, message: Outgoing) -> JsonObject:
        """Point at the thread's events."""
        thread = message.address.partition(":")[2]
        if not thread:
            raise GiveUp(f"{message.address!r} names no thread")
        return {"url": f"/v1/threads/{thread}/events"}
