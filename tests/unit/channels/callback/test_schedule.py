"""When a failed callback is tried again."""

from __future__ import annotations

import pytest

from channels.callback.schedule import failure
from channels.channel import GiveUp, TryLater


def test_seven_times_over_more_than_a_day() -> None:
    """5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h."""
    waits = [failure("x", attempt) for attempt in range(1, 8)]
    seconds = [one.retry_after for one in waits if isinstance(one, TryLater)]

    assert seconds == [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
    assert isinstance(failure("x", 8), GiveUp)


@pytest.mark.parametrize(
    ("attempt", "wished", "seconds"),
    [(1, 60.0, 60), (2, 60.0, 300), (1, -5.0, 5), (1, float("inf"), 86_400), (7, 40_000.0, 40_000)],
)
def test_a_wish_makes_us_later_never_sooner(attempt: int, wished: float, seconds: float) -> None:
    """And no wish keeps us away for more than a day."""
    error = failure("x", attempt, wished=wished)

    assert isinstance(error, TryLater)
    assert error.retry_after == seconds
