"""A crowd in one channel: each of those that are sent away comes back at a time of its own."""

from __future__ import annotations

import pytest

from channels.channel import TryLater
from channels.slack.pacing import Pace


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        """Begin somewhere."""
        self.now = 1_000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


async def sent_away(pace: Pace, channel: str = "T1:C1") -> float:
    """Ask for a turn without any patience; gives for how long we are sent away."""
    with pytest.raises(TryLater) as raised:
        await pace.turn(channel, patience=0.0)
    assert raised.value.retry_after is not None
    return raised.value.retry_after


async def test_a_crowd_is_sent_away_one_behind_the_other() -> None:
    """All at the same time they would only meet again, and again, and later each time."""
    clock = Clock()
    pace = Pace(clock=clock)
    await pace.turn("T1:C1", patience=0.0)
    waits = [await sent_away(pace) for _ in range(100)]

    assert waits == [float(second) for second in range(1, 101)]
    for second in waits:
        clock.now = 1_000.0 + second
        await pace.turn("T1:C1", patience=0.0)  # nobody is sent away twice


async def test_a_crowd_that_is_over_keeps_nobody_waiting() -> None:
    """Nor does the crowd of another channel."""
    clock = Clock()
    pace = Pace(clock=clock)
    await pace.turn("T1:C1", patience=0.0)
    await sent_away(pace)
    await sent_away(pace)
    await pace.turn("T1:C2", patience=0.0)
    clock.now += 60
    await pace.turn("T1:C1", patience=0.0)

    assert await sent_away(pace) == 1.0
