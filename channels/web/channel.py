"""The `web` channel. Sending is making it readable, and the log already is."""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, Live, NoSuchAddress, Sent
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler


class WebChannel:
    """Addresses are `web:THREAD`; the receipt says where to read. The control API is its way in."""

    name = "web"
    capabilities = Capabilities(shows_questions=False)
    live: Live | None = None

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve nothing: the control API does."""
        return {}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:
        """Wait for nothing."""

    async def stop(self) -> None:
        """Hold nothing."""

    async def send(self, message: Outgoing) -> Sent:
        """Point at the thread's events."""
        thread = message.address.partition(":")[2]
        if not thread:
            raise NoSuchAddress(f"{message.address!r} names no thread")
        return Sent(receipt={"url": f"/v1/threads/{thread}/events"})

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Change nothing: who reads the log sees how it ended."""

    async def health(self) -> str:
        """Be well."""
        return ""
