"""How often: token buckets, one for each name, in this process.

A bucket of a name that has been quiet is full again and is forgotten, so that strangers' addresses
can't fill the memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MOST_BUCKETS = 10_000


class Buckets:
    """So many at once, and so many a second after that, for each name."""

    def __init__(
        self, *, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._full_at: dict[str, float] = {}

    def take(self, name: str) -> float:
        """Take one token: 0.0 if there was one, else the seconds until there is.

        A bucket is kept as the time at which it is full again: one number says it all.
        """
        now = self._clock()
        full_at = max(self._full_at.get(name, now), now) + 1 / self._rate
        missing = full_at - now - self._burst / self._rate
        if missing > 1e-9:  # noqa: PLR2004 (sums of fractions are never exact)
            return missing
        if len(self._full_at) >= _MOST_BUCKETS and name not in self._full_at:
            self._forget_full(now)
        self._full_at[name] = full_at
        return 0.0

    def _forget_full(self, now: float) -> None:
        self._full_at = {name: at for name, at in self._full_at.items() if at > now}
        if len(self._full_at) >= _MOST_BUCKETS:  # a flood of names: better forget than grow
            self._full_at.clear()


class Seats:
    """So many at the same time, for each name."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: Counter[str] = Counter()

    @contextmanager
    def seat(self, name: str) -> Iterator[bool]:
        """Tell whether there is a seat, and keep it while inside."""
        free = self._taken[name] < self._most
        if not free:
            yield False
            return
        self._taken[name] += 1
        try:
            yield True
        finally:
            self._taken[name] -= 1
            if not self._taken[name]:
                del self._taken[name]
