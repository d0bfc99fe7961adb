"""Hosts that hang: what is meant for one must not take the hands that others need.

A host that has let a request of ours time out gets one at a time for a while; the rest fail at
once, as they would have after the timeout. One answer of any kind, and it is as any other again.
Known to this process alone: each finds out for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

WARY_SECONDS: Final = 60.0
"""How long a host counts as hanging after its last timeout."""
_MOST_HOSTS: Final = 1000


class Hanging:
    """Knows which hosts have kept us waiting, and which of them is being tried."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Take a clock that never goes back."""
        self._clock = clock
        self._until: dict[str, float] = {}
        self._tried: set[str] = set()

    @contextmanager
    def trying(self, host: str) -> Iterator[bool]:
        """Give whether to try a host now; one that hangs is tried by one at a time."""
        if not self._hangs(host):
            yield True
            return
        if host in self._tried:
            yield False
            return
        self._tried.add(host)
        try:
            yield True
        finally:
            self._tried.discard(host)

    def note(self, host: str, *, timed_out: bool) -> None:
        """Note how a try ended."""
        self._until.pop(host, None)
        if not timed_out:
            return
        while len(self._until) >= _MOST_HOSTS:
            self._until.pop(next(iter(self._until)))
        self._until[host] = self._clock() + WARY_SECONDS

    def _hangs(self, host: str) -> bool:
        return self._clock() < self._until.get(host, 0.0)
