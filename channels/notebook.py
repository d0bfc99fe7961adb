"""A channel for tests and trials: it writes down what it is given, and does as its script says."""

from __future__ import annotations

from collections.abc import Mapping

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, Live, Sent
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler


class Notebook:
    """Follows its script, one entry for each message, and then succeeds for ever."""

    def __init__(self, *script: Exception | JsonObject, name: str = "notebook") -> None:
        self.name = name
        self.capabilities = Capabilities(edits=True)
        self.live: Live | None = None
        self.house: Gatehouse | None = None
        self.tried: list[Outgoing] = []
        self.sent: list[str] = []
        self.settled: list[tuple[JsonObject, Outgoing]] = []
        self._script = list(script)

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve nothing."""
        return {}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:  # noqa: ARG002 (it has no door)
        """Keep what a test may want to talk to."""
        self.house = house

    async def stop(self) -> None:
        """Let go."""
        self.house = None

    async def send(self, message: Outgoing) -> Sent:
        """Write it down, or fail as the script says."""
        self.tried.append(message)
        page: JsonObject = {"page": len(self.tried)}
        done = self._script.pop(0) if self._script else page
        if isinstance(done, Exception):
            raise done
        self.sent.append(message.id)
        return Sent(receipt=done, place=str(done.get("place", "")))

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Write down which page was settled how."""
        self.settled.append((receipt, message))

    async def health(self) -> str:
        """Be well."""
        return ""
