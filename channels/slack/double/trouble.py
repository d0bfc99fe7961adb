"""Trouble on demand: errors, statuses, silence, cut connections, rate limits, Slack being away."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

Drop = Literal["before", "after"]
EVERYTHING = "*"


@dataclass(slots=True, kw_only=True)
class Fault:
    """What goes wrong with the next calls of one method."""

    method: str
    times: int
    error: str | None = None
    status: int | None = None
    retry_after: float | None = None
    hang: float | None = None
    drop: Drop | None = None
    """Cut the connection before doing it, or after: then the app can't know whether it was done."""


class Trouble:
    """What was ordered, and whether Slack answers at all."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._per_second: float | None = None
        self._posts: dict[str, deque[float]] = {}
        self.is_down = False
        self.down_status: int | None = None
        self.false_claims: dict[str, object] = {}
        """What the tokens of those who sign in say, in place of the truth."""

    def order(self, fault: Fault) -> None:
        """Let something go wrong from now on."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Let everything go right again."""
        self._faults.clear()

    def next(self, method: str) -> Fault | None:
        """Take the fault that this call meets, if any."""
        for fault in self._faults:
            if fault.method in {method, EVERYTHING} and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def limit(self, per_second: float | None) -> None:
        """Allow so many posts a second in each channel; None for as many as it likes."""
        self._per_second = per_second
        self._posts.clear()

    def too_fast(self, channel: str, now: float) -> int | None:
        """Count a post; give the seconds to wait when there were too many."""
        if self._per_second is None:
            return None
        posts = self._posts.setdefault(channel, deque())
        window = max(1.0, 1.0 / self._per_second)
        while posts and now - posts[0] >= window:
            posts.popleft()
        if len(posts) >= max(1, int(self._per_second * window)):
            return max(1, math.ceil(window - (now - posts[0])))
        posts.append(now)
        return None
