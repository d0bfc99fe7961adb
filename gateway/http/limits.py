"""How many at the same time, in this process. How often is `gateway.rates`' business."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


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
