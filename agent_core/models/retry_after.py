"""How long a server asks us to stay away, read from its headers. Pure: the time is passed in."""

from __future__ import annotations

import math
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 3600.0
"""More than an hour is a server's mistake, or a day that no retry should wait for."""


def parse_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Give seconds from `now`, from 0 to an hour; None where the server doesn't say.

    RFC 9110, section 10.2.3: Retry-After is a number of seconds or a date. OpenAI adds its own
    `retry-after-ms`, which is finer and so comes first.
    """
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _number(headers.get(header, ""))
        if seconds is not None:
            return _bounded(seconds * unit)
    at = _date(headers.get("retry-after", ""))
    return None if at is None else _bounded(at - now)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _date(text: str) -> float | None:
    try:
        at = parsedate_to_datetime(text)
        # A date in "-0000" is in UTC, too, but comes without a zone.
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):  # no date, or one that no calendar has
        return None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST)
