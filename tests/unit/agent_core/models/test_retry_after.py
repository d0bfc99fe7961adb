"""How long a server asks us to wait."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.models.retry_after import LONGEST, parse_retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e999"}, LONGEST),
        ({"retry-after": "86400"}, LONGEST),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": formatdate(NOW + 30)}, 30.0),  # in "-0000", which also is UTC
        ({"retry-after": "Fri, 99 Jan 2027 99:99:99 GMT"}, None),
    ],
)
def test_seconds_milliseconds_and_dates_are_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    """Both forms of RFC 9110 and OpenAI's milliseconds, within 0 and an hour."""
    assert parse_retry_after(headers, now=NOW) == seconds


@given(st.text(), st.text())
def test_no_header_is_too_strange(seconds: str, milliseconds: str) -> None:
    """Whatever a proxy writes there gives a time within bounds, or none."""
    headers = {"retry-after": seconds, "retry-after-ms": milliseconds}

    wait = parse_retry_after(headers, now=NOW)

    assert wait is None or 0 <= wait <= LONGEST
