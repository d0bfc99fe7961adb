"""How often, and how many at once."""

from __future__ import annotations

import pytest

from gateway.http import limits
from gateway.http.limits import Buckets, Seats


class Clock:
    """A clock driven by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


def test_a_burst_passes_and_then_the_rate_holds() -> None:
    """The first refusal says exactly how long to wait, and waiting that long is enough."""
    clock = Clock()
    buckets = Buckets(rate=2, burst=3, clock=clock)

    assert [buckets.take("a") for _ in range(3)] == [0, 0, 0]
    wait = buckets.take("a")
    assert wait == pytest.approx(0.5)
    clock.now += wait
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0


def test_a_refusal_costs_nothing() -> None:
    """Whoever keeps on asking is not pushed further back by it."""
    clock = Clock()
    buckets = Buckets(rate=1, burst=1, clock=clock)
    buckets.take("a")

    assert [buckets.take("a") for _ in range(5)] == [pytest.approx(1.0)] * 5


def test_names_have_buckets_of_their_own() -> None:
    """One key that asks too often takes nothing from another."""
    buckets = Buckets(rate=1, burst=1, clock=Clock())
    buckets.take("a")

    assert buckets.take("b") == 0


def test_a_flood_of_names_does_not_fill_the_memory() -> None:
    """Full buckets are forgotten; if none is full, all are, rather than grow."""
    clock = Clock()
    buckets = Buckets(rate=1, burst=1, clock=clock)
    for number in range(limits._MOST_BUCKETS + 10):
        buckets.take(str(number))
        clock.now += 0.5 if number % 2 else 0.0

    assert len(buckets._full_at) <= limits._MOST_BUCKETS


def test_a_seat_is_free_again_when_its_owner_left() -> None:
    """Also when they left by an error."""
    seats = Seats(1)
    with seats.seat("a") as first, seats.seat("a") as second, seats.seat("b") as other:
        assert (first, second, other) == (True, False, True)
    with pytest.raises(ZeroDivisionError), seats.seat("a"):
        raise ZeroDivisionError

    with seats.seat("a") as again:
        assert again
    assert not seats._taken
