"""Channels of a machine: adapters as the real ones are, to servers that are `outside`.

Slack can be looked through before one posts again, and what stands there can be changed. A mail
can't be changed, and its copies have one Message-ID. A callback gets everything, and knows copies
by their id.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from random import Random
from typing import TypeVar

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, GiveUp, Live, Sent, TryLater
from channels.intake import Gatehouse
from channels.outgoing import Outgoing
from channels.web_routes import WebHandler
from tests.simulation.gateway.mutations import Mutation
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.outside import Outside

_T = TypeVar("_T")

NEVER_IN_CHANNELS = "slack:T1:U5"
"""Somebody who reads direct messages only: Slack tells so when it has posted something."""


class SimChannel(ABC):
    """What the three have in common: calls to a server that may not answer."""

    name: str
    capabilities: Capabilities = Capabilities()
    live: Live | None = None

    def __init__(
        self, who: str, outside: Outside, network: Network, chance: Random, mutation: Mutation
    ) -> None:
        self._who = who
        self._outside = outside
        self._network = network
        self._chance = chance
        self._mutation = mutation

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve nothing: what comes in is handed to the intake."""
        return {}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:  # noqa: B027 (nothing to do)
        """Need nothing."""

    async def stop(self) -> None:  # noqa: B027 (nothing to do)
        """Hold nothing."""

    @abstractmethod
    async def send(self, message: Outgoing) -> Sent:
        """Send it."""

    @abstractmethod
    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Show how it ended."""

    async def health(self) -> str:
        """Be well."""
        return ""

    async def _call(self, what: str, act: Callable[[], _T]) -> _T:
        def reach() -> _T:
            if self._outside.is_down(self.name):
                raise TryLater("500", retry_after=self._chance.choice((None, 5.0)))
            return act()

        loses = self._network.weather.posts_lost
        return await self._network.call(
            self._who, f"{self.name}.{what}", reach, loses=loses, error=TryLater
        )

    def _post(self, message: Outgoing) -> int:
        if message.address in self._outside.gone:
            raise GiveUp("nobody lives here")
        return self._outside.post(self.name, message)

    async def _show(self, what: str, act: Callable[[], None]) -> None:
        try:
            await self._call(what, act)
        except TryLater:
            if not self._mutation.settles_once:
                raise


class SimSlack(SimChannel):
    """Messages with buttons, which can be found and changed."""

    name = "slack"
    capabilities = Capabilities(edits=True)

    async def send(self, message: Outgoing) -> Sent:
        """Post it, unless an earlier try got through."""
        number = None
        if message.attempt > 1:
            number = await self._call("find", lambda: self._outside.find(message))
        if number is None:
            number = await self._call("post", lambda: self._post(message))
        is_channel = message.address.split(":")[2].startswith("C")
        absent = (one for one in message.asked if is_channel and one == NEVER_IN_CHANNELS)
        return Sent(receipt={"number": number}, unseen_by=tuple(absent))

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Change it to what is so now, and what else was posted of it."""
        card = message.question
        if card is None or "number" not in receipt:
            return
        numbers = [receipt["number"]]
        if message.tries > 1 and not self._mutation.never_looks:
            numbers = await self._call("look", lambda: self._outside.copies(receipt["number"]))
        for number in numbers:
            await self._show("change", lambda one=number: self._outside.change(one, card))  # type: ignore[misc]  # bound now


class SimMail(SimChannel):
    """Letters: each try is a letter, of one Message-ID."""

    name = "email"

    async def send(self, message: Outgoing) -> Sent:
        """Send it; a copy is known by its Message-ID."""

        def letter() -> int:
            return self._outside.find(message) or self._post(message)

        return Sent(receipt={"number": await self._call("post", letter)})

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Send another after it."""
        card = message.question
        if card is not None and "number" in receipt:
            await self._show("follow", lambda: self._outside.follow(receipt["number"], card))


class SimCallback(SimChannel):
    """Somebody's program, which hears of everything."""

    name = "callback"
    capabilities = Capabilities(follows=True)

    async def send(self, message: Outgoing) -> Sent:
        """Post it; the receiver knows a copy by its id."""

        def request() -> int:
            return self._outside.find(message) or self._post(message)

        return Sent(receipt={"number": await self._call("post", request)})

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Never be asked to: it follows."""


def make_channels(
    who: str, outside: Outside, network: Network, chance: Random, mutation: Mutation
) -> list[SimChannel]:
    """Make those of one machine."""
    kinds = (SimSlack, SimMail, SimCallback)
    return [kind(who, outside, network, chance, mutation) for kind in kinds]
