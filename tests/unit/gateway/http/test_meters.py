"""What `/metrics` shows besides HTTP."""

from __future__ import annotations

from gateway.http.meters import Meters
from gateway.telemetry.figures import Figures


def test_what_reached_nobody_is_counted() -> None:
    """As it is when somebody looks."""
    figures = Figures()
    meters = Meters(figures=figures)
    figures.unreached += 2

    assert "parley_unreached_total 2.0" in meters.text()
