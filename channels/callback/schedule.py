"""When a failed callback is tried again, and when one gives up. Pure.

The sender adds jitter, up to a quarter, so that those which failed together don't come together.
"""

from __future__ import annotations

from typing import Final

from channels.channel import ChannelError, GiveUp, TryLater

_MINUTE, _HOUR = 60.0, 3600.0
DELAYS: Final = (
    5.0,
    5 * _MINUTE,
    30 * _MINUTE,
    2 * _HOUR,
    5 * _HOUR,
    10 * _HOUR,
    10 * _HOUR,
)
"""After the first try, the second, …; after the last one it has failed."""
_LONGEST_WISH: Final = 24 * _HOUR
"""What a receiver may ask us to wait: more would be a mistake of its own."""


def failure(why: str, attempt: int, *, wished: float | None = None) -> ChannelError:
    """Tell what to do after a try: later (never sooner than the receiver wishes), or no more."""
    if attempt > len(DELAYS):
        return GiveUp(why)
    own = DELAYS[max(attempt, 1) - 1]
    return TryLater(why, retry_after=max(own, min(wished or 0.0, _LONGEST_WISH)))
