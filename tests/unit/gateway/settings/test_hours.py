"""Working hours: when they begin, in a person's own time zone, whatever the clocks do."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.thread.events import Millis
from gateway.settings.hours import parse_hours

BERLIN = "Europe/Berlin"
OFFICE = parse_hours("Mon-Thu 09:00-18:00, Fri 09:00-14:30", BERLIN)


def at(text: str, zone: str = BERLIN) -> Millis:
    """Give a moment by its local time."""
    return Millis(
        int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()) * 1000
    )


@pytest.mark.parametrize(
    ("now", "begin"),
    [
        ("2026-11-16T12:00", "2026-11-16T12:00"),  # a Monday
        ("2026-11-16T09:00", "2026-11-16T09:00"),
        ("2026-11-16T08:59", "2026-11-16T09:00"),
        ("2026-11-16T18:00", "2026-11-17T09:00"),
        ("2026-11-20T14:30", "2026-11-23T09:00"),
        ("2026-11-22T23:59", "2026-11-23T09:00"),
        ("2026-03-27T20:00", "2026-03-30T09:00"),  # the clocks go forward in between
        ("2026-10-24T20:00", "2026-10-26T09:00"),  # and back
    ],
)
def test_hours_begin_by_the_local_clock(now: str, begin: str) -> None:
    """Within them at once, else when they begin next."""
    assert at(begin) == OFFICE.begin(at(now))


def test_span_may_go_past_midnight_and_past_the_week() -> None:
    """Somebody works at night."""
    night = parse_hours("sat-mon 22:00 - 06:00", "UTC")

    assert night.begin(at("2026-11-17T05:59", "UTC")) == at("2026-11-17T05:59", "UTC")
    assert night.begin(at("2026-11-17T06:00", "UTC")) == at("2026-11-21T22:00", "UTC")
    assert night.begin(at("2026-11-22T12:00", "UTC")) == at("2026-11-22T22:00", "UTC")


def test_whole_day_can_be_said() -> None:
    """Until midnight, without a gap."""
    always = parse_hours("Mon-Sun 00:00-24:00", "")
    now = at("2026-11-17T23:59:59", "UTC")

    assert always.begin(now) == now


@given(now=st.integers(0, 4_000_000_000_000))
def test_hours_begin_soon_and_then_hold(now: int) -> None:
    """Never in the past, within a week, and at a moment that is in them."""
    begin = OFFICE.begin(Millis(now))

    assert now <= begin <= now + 7 * 25 * 3_600_000
    assert OFFICE.begin(begin) == begin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "9-17",
        "Mon-Fri",
        "Mon-Fri 9:00-17:00",
        "Mon-Fri 09:00-09:00",
        "Mon-Fri 09:00-17:00,",
        "Monday 09:00-17:00",
        "Mon 24:00-25:00",
        "Mon 24:30-23:00",
        "Mon 09:00-24:30",
    ],
)
def test_what_is_no_span_is_refused(text: str) -> None:
    """With an example."""
    with pytest.raises(ValueError, match="Mon-Fri 09:00-18:00"):
        parse_hours(text, "UTC")


@pytest.mark.parametrize("zone", ["Berlin", "../etc/passwd", "/etc/localtime", "Europe"])
def test_unknown_time_zone_is_refused(zone: str) -> None:
    """With an example; a path is none."""
    with pytest.raises(ValueError, match="Europe/Berlin"):
        parse_hours("Mon 09:00-17:00", zone)
