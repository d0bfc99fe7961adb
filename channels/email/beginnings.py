"""Beginnings: how many conversations somebody has begun within the hour.

A program that answers each of our mails with a new one, without a word of what it answers, makes a
new thread each time, so no count of a thread's mails would end it. Kept by each process for itself:
a loop is there in every one of them, and a cap is no ledger.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

_HOUR: Final = 3_600.0
_MOST_SENDERS: Final = 10_000


class Beginnings:
    """Counts them by sender."""

    def __init__(self, per_hour: int, clock: Callable[[], float]) -> None:
        """Take how many one sender may begin in an hour, and a clock that gives seconds."""
        self._per_hour = per_hour
        self._clock = clock
        self._begun: dict[str, deque[float]] = {}

    def are_enough(self, email: str) -> bool:
        """Tell whether somebody has begun as many as they may."""
        return len(self._recent(email)) >= self._per_hour

    def count(self, email: str) -> None:
        """Count one more."""
        recent = self._recent(email)
        recent.append(self._clock())
        self._begun.pop(email.lower(), None)
        if len(self._begun) >= _MOST_SENDERS:  # whoever was silent for longest
            self._begun.pop(next(iter(self._begun)))
        self._begun[email.lower()] = recent

    def _recent(self, email: str) -> deque[float]:
        times = self._begun.get(email.lower(), deque())
        while times and times[0] <= self._clock() - _HOUR:
            times.popleft()
        return times
