"""How fast we may speak: about one post a second and channel, and silence where Slack asks for it.

Who would have to wait long is sent away with "try later" and the time, instead of being kept: a
sender that waits holds up the deliveries of other channels, and one that is killed meanwhile has
waited for nothing. For the same reason the SDK's AsyncRateLimitErrorRetryHandler is not used: it
sleeps for Retry-After inside of the call, with the delivery's lease running out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from channels.channel import TryLater

K = TypeVar("K")
_MOST_KEPT: Final = 10_000


class Pace:
    """Turns for each channel, holds for each method and channel, and order within a thread."""

    def __init__(
        self, *, seconds: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next_turn: dict[str, float] = {}
        self._line_until: dict[str, float] = {}
        self._held_until: dict[tuple[str, str], float] = {}
        self._threads: dict[str, tuple[asyncio.Lock, int]] = {}

    def hold(self, method: str, channel: str, seconds: float) -> None:
        """Obey a Retry-After: this method, in this channel, and nothing else."""
        self._held_until = _without_past(self._held_until, self._clock())
        self._held_until[method, channel] = self._clock() + seconds

    def check(self, method: str, channel: str) -> None:
        """Raise TryLater while Slack wants silence."""
        left = self._held_until.get((method, channel), 0.0) - self._clock()
        if left > 0:
            raise TryLater(f"Slack wants {method} to wait in {channel}", retry_after=left)

    async def turn(self, channel: str, *, patience: float) -> None:
        """Wait for this channel's next turn, or raise TryLater if that is too far away."""
        now = self._clock()
        turn = max(now, self._next_turn.get(channel, 0.0))
        if turn - now > patience:
            wait = self._place_in_line(channel, turn) - now
            raise TryLater(f"{channel} is busy", retry_after=wait)
        self._next_turn = _without_past(self._next_turn, now)
        self._next_turn[channel] = turn + self._seconds
        if turn > now:
            await asyncio.sleep(turn - now)

    def _place_in_line(self, channel: str, turn: float) -> float:
        """Give each that is sent away a time of its own: a crowd that comes back meets again."""
        place = max(turn, self._line_until.get(channel, 0.0))
        self._line_until = _without_past(self._line_until, self._clock())
        self._line_until[channel] = place + self._seconds
        return place

    @asynccontextmanager
    async def in_order(self, thread: str) -> AsyncIterator[None]:
        """Let one message after the other into a thread, in the order in which they came."""
        lock, users = self._threads.get(thread, (asyncio.Lock(), 0))
        self._threads[thread] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            _, users = self._threads.pop(thread)
            if users > 1:
                self._threads[thread] = (lock, users - 1)


def _without_past(times: dict[K, float], now: float) -> dict[K, float]:
    """Forget what is over, once there is much to forget."""
    if len(times) < _MOST_KEPT:
        return times
    return {key: at for key, at in times.items() if at > now}
