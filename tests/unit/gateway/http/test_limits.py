"""How many at once."""

from __future__ import annotations

import pytest

from gateway.http.limits import Seats


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
