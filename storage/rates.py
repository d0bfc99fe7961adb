"""How far buckets are ahead of now, where one process is all there is: in its memory.

A bucket is the time at which it is full again. What is full by now need not be kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

_MOST = 10_000


class OneProcess:
    """The buckets of a store that has one process to itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with full ones."""
        self._clock = clock
        self._full_at: dict[str, int] = {}

    def spend(self, spent: Mapping[str, int]) -> dict[str, int]:
        """Move buckets on by so many milliseconds each; give how far each is ahead of now."""
        now = round(self._clock() * 1000)
        if len(self._full_at) > _MOST:
            self._full_at = {name: at for name, at in self._full_at.items() if at > now}
        for name, cost in spent.items():
            self._full_at[name] = max(self._full_at.get(name, now), now) + cost
        return {name: self._full_at[name] - now for name in spent}
