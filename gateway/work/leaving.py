"""Threads that this code can't read, and leaves to others for a while.

While two versions run side by side, newer code writes what older code has never heard of. That is
no failure of the thread's: whoever can read it goes on with it. A log that is damaged looks alike,
and is looked at again now and then, until a person has seen to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from agent_core.thread.events import Millis, ThreadId

_LEFT_MS = 60_000
_MOST = 1000


class Left:
    """Which threads are left to others, each for a minute."""

    def __init__(self, now: Callable[[], Millis]) -> None:
        """Begin with none."""
        self._now = now
        self._until: dict[ThreadId, int] = {}

    def add(self, thread: ThreadId) -> None:
        """Leave a thread to others from now on; the one that was left first gives way."""
        self._until.pop(thread, None)
        if len(self._until) >= _MOST:
            del self._until[next(iter(self._until))]
        self._until[thread] = self._now() + _LEFT_MS

    def threads(self) -> Collection[ThreadId]:
        """Give those that are left alone now."""
        now = self._now()
        if any(until <= now for until in self._until.values()):
            self._until = {thread: at for thread, at in self._until.items() if at > now}
        return self._until.keys()
