"""Ids: the time and chance, so that they sort by age and nobody can guess one.

Rows of the same moment then lie side by side, and a commit of many writes one page where it would
write one for each. Asking the system for chance costs 60 to 95 µs on some machines, whether for
five bytes or for thousands: it is drawn many at a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

_BYTES = 5
"""Of chance, beside the millisecond."""
_AT_ONCE = 512


class Ids:
    """A pool of chance that has not been used. Threads may share it; a fork begins its own."""

    def __init__(
        self,
        draw: Callable[[int], bytes] = os.urandom,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """Begin empty: what is never asked for is never drawn."""
        self._draw = draw
        self._clock = clock
        self._unused: list[str] = []
        os.register_at_fork(after_in_child=self._unused.clear)

    def new(self, prefix: str) -> str:
        """Give an id that says what it names."""
        while True:
            try:
                return f"{prefix}_{self._clock() // 1_000_000:011x}{self._unused.pop()}"
            except IndexError:
                self._fill()

    def _fill(self) -> None:
        drawn = self._draw(_BYTES * _AT_ONCE).hex()
        size = _BYTES * 2
        self._unused.extend(drawn[at : at + size] for at in range(0, len(drawn), size))
