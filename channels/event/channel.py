"""The event channel: a question that waits for something outside goes to the address of its key.

Nobody reads there. What happens outside comes by the API or a webhook, and answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from agent_core.json_values import JsonObject
from channels.channel import Capabilities, Live, NoSuchAddress, Sent
from channels.event.board import DAY, Board
from channels.event.records import Ended
from channels.intake import Gatehouse
from channels.occurrences import Occurred, Occurrence
from channels.outgoing import Outgoing, QuestionCard
from channels.web_routes import WebHandler

_NAME_ON_BOARD = "waiting"
"""In a receipt: how to take the question off the board."""


class EventChannel:
    """Addresses are `event:KEY`."""

    name = "event"
    capabilities = Capabilities()
    live: Live | None = None

    def __init__(
        self, *, keep_seconds: float = 30 * DAY, clock: Callable[[], float] = time.time
    ) -> None:
        """Keep what happens before somebody waits for it, for so long."""
        self._keep_seconds = keep_seconds
        self._clock = clock
        self._board: Board | None = None

    def routes(self) -> Mapping[tuple[str, str], WebHandler]:
        """Serve nothing: the control API and the hooks are its doors."""
        return {}

    async def start(self, house: Gatehouse, *, receives: bool = True) -> None:  # noqa: ARG002 (who sends may match as well)
        """Match what a crash may have left apart."""
        self._board = Board(house, keep_seconds=self._keep_seconds, clock=self._clock)
        await self._board.look()

    async def stop(self) -> None:
        """Let go."""
        self._board = None

    async def occur(self, occurrence: Occurrence) -> Occurred:
        """Hand it to the one who waits for its key, or keep it."""
        return await self._started.occur(occurrence)

    async def send(self, message: Outgoing) -> Sent:
        """Put a question that waits for this key on the board; whatever else, nobody reads."""
        key, card = _key(message.address), message.question
        if message.kind != "question.asked" or card is None or not _waits(card):
            return Sent(receipt={"event": key})
        name = await self._started.wait(key, card.id, card.asked_at)
        return Sent(receipt={"event": key, _NAME_ON_BOARD: name})

    async def settle(self, receipt: JsonObject, message: Outgoing) -> None:
        """Take the question off the board."""
        name, card = receipt.get(_NAME_ON_BOARD), message.question
        if name and card is not None:
            await self._started.leave(_key(message.address), str(name), Ended(card.id, card.status))

    async def health(self) -> str:
        """Be well."""
        return ""

    @property
    def _started(self) -> Board:
        assert self._board is not None, "it is used between start and stop"  # noqa: S101 (ours)
        return self._board


def _waits(card: QuestionCard) -> bool:
    return card.kind == "event" and card.status == "open"


def _key(address: str) -> str:
    channel, _, key = address.partition(":")
    if channel != EventChannel.name or not key:
        raise NoSuchAddress(f"{address!r} names no event")
    return key
