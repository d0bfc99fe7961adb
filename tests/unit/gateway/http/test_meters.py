"""What `/metrics` shows besides HTTP."""

from __future__ import annotations

from gateway.figures import Figures
from gateway.http.meters import Meters


def test_what_reached_nobody_is_counted() -> None:
    """As it is when somebody looks."""
    figures = Figures()
    meters = Meters(figures=figures)
    figures.unreached += 2

    assert "parley_unreached_total 2.0" in meters.text()
