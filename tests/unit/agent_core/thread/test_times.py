"""Moments, as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime, spoken
from tests.unit.agent_core.thread.logs import START


def test_a_moment_is_spoken_to_the_minute_in_utc() -> None:
    """People in several countries read the same log."""
    assert spoken(START) == "2026-10-03 04:00 UTC"


def test_a_moment_is_an_aware_datetime() -> None:
    """To the millisecond."""
    assert as_datetime(Millis(1500)) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "year"), [(-1, 1970), (-(10**30), 1970), (10**15, 9999), (10**400, 9999)]
)
def test_a_forged_time_is_brought_within_the_calendar(moment: int, year: int) -> None:
    """A log may hold any number; nobody who reads it should get an error."""
    assert as_datetime(Millis(moment)).year == year


@given(st.integers())
def test_every_number_is_some_moment(moment: int) -> None:
    """Whatever it is."""
    assert spoken(Millis(moment)).endswith(" UTC")
