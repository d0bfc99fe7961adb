"""Messages that wait until their thread rests, kept in the channel's memory; first come, first in.

Each is kept before it is tried, and forgotten after it was taken; so a crash leaves it to be tried
again, and its key sees to it that it has no second effect. When a thread has come to rest, the
outbox tells the channel, and the next one goes in.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from hashlib import sha256

import msgspec

from channels.inbound import Message
from channels.intake import Gatehouse, Received
from channels.recalling import recall_readable

_log = logging.getLogger("parley.webhook")

_KEPT_SECONDS = 90 * 24 * 3600
_MOST_OF_A_PLACE = 1000
"""Who waits is listed each time that somebody comes: more than that is a mistake."""


class WaitingRoom:
    """What waits, by place."""

    def __init__(self, house: Gatehouse, clock: Callable[[], float] = time.time) -> None:
        self._house = house
        self._clock = clock

    async def receive(self, message: Message) -> Received:
        """Keep it, let in who may go in, and tell what became of this one."""
        if await self._is_full(message.place):
            words = f"{_MOST_OF_A_PLACE} events wait already until the thread comes to its end"
            return Received(effect="refused", words=words)
        own = f"{_prefix(message.place)}{int(self._clock() * 1e6):016d}:{_digest(message.key)}"
        await self._keep(own, message)
        done = await self.let_in(message.place)
        return done[own] if own in done else await self._house.intake.receive(message)

    async def let_in(self, place: str) -> dict[str, Received]:
        """Let in those who wait, in their order, until one has to wait on; tell what became.

        Whoever comes looks, and so does the end of a thread: kept before one of the two looked,
        nothing is overlooked.
        """
        done: dict[str, Received] = {}
        for key in await self._house.memory.keys(_prefix(place)):
            kept = await recall_readable(self._house.memory, key)
            if kept is None:
                continue  # another process has let it in, or nobody can read it
            received = await self._house.intake.receive(_read(kept))
            if received.effect == "waiting":
                break
            if received.effect == "refused":
                _log.warning("what waited was refused", extra={"error": received.words})
            await self._house.memory.keep(key, None)
            done[key] = received
        return done

    async def _is_full(self, place: str) -> bool:
        for _ in range(2):
            if len(await self._house.memory.keys(_prefix(place))) < _MOST_OF_A_PLACE:
                return False
            await self.let_in(place)  # else a crash at the wrong moment would lock them out
        return True

    async def _keep(self, key: str, message: Message) -> None:
        kept = msgspec.json.encode(message)
        await self._house.memory.keep(key, kept, seconds=_KEPT_SECONDS)


def _read(kept: bytes) -> Message:
    return msgspec.json.decode(kept, type=Message)


def _prefix(place: str) -> str:
    return f"waiting:{_digest(place)}:"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]
