"""Working hours: when somebody may be written to, as the operator says it. Pure.

`Mon-Fri 09:00-18:00` in a time zone; several, separated by commas. A span may end on the next day
(`22:00-06:00`). Clock changes are the zone's business: nine o'clock is nine o'clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent_core.thread.events import Millis

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = rf"({'|'.join(_DAYS)})"
_CLOCK = r"([01]\d|2[0-4]):([0-5]\d)"
_SPAN = re.compile(rf"(?i){_DAY}(?:\s*-\s*{_DAY})?\s+{_CLOCK}\s*-\s*{_CLOCK}")
_WEEK = 7
_MINUTES = 24 * 60
_EXAMPLE = "working hours look like Mon-Fri 09:00-18:00; several are separated by commas"


@dataclass(frozen=True, slots=True)
class _Span:
    days: frozenset[int]
    start: int
    """Minutes after midnight."""
    end: int
    """Not after `start`: on the next day."""


@dataclass(frozen=True, slots=True)
class Hours:
    """When somebody works."""

    spans: tuple[_Span, ...]
    zone: ZoneInfo

    def begin(self, now: Millis) -> Millis:
        """Give the moment itself if it is within the hours, else when they begin next."""
        here = datetime.fromtimestamp(now / 1000, self.zone).date()
        found = [*self._on_days_from(here - timedelta(days=1), _WEEK + 2)]
        if any(start <= now < end for start, end in found):
            return now
        return min(start for start, _ in found if start > now)

    def _on_days_from(self, first: date, days: int) -> Iterator[tuple[Millis, Millis]]:
        for day in (first + timedelta(days=number) for number in range(days)):
            for span in self.spans:
                if day.weekday() in span.days:
                    end = span.end if span.end > span.start else span.end + _MINUTES
                    yield self._moment(day, span.start), self._moment(day, end)

    def _moment(self, day: date, minutes: int) -> Millis:
        days, minutes = divmod(minutes, _MINUTES)
        clock = time(minutes // 60, minutes % 60, tzinfo=self.zone)
        return Millis(int(datetime.combine(day + timedelta(days=days), clock).timestamp() * 1000))


def parse_hours(text: str, zone: str) -> Hours:
    """Read working hours, or raise ValueError in words for the operator."""
    return Hours(tuple(_span(one.strip()) for one in text.split(",")), parse_zone(zone))


def parse_zone(name: str) -> ZoneInfo:
    """Read the name of a time zone; without one, UTC."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise ValueError(f"there is no time zone {name!r}; they look like Europe/Berlin") from exc


def _span(text: str) -> _Span:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(f"{_EXAMPLE}; not {text!r}")
    first, last = (_DAYS.index(day.lower()) for day in (found[1], found[2] or found[1]))
    count = (last - first) % _WEEK + 1
    start, end = int(found[3]) * 60 + int(found[4]), int(found[5]) * 60 + int(found[6])
    if start >= _MINUTES or end > _MINUTES or start == end:
        raise ValueError(f"{_EXAMPLE}; not {text!r}")
    return _Span(frozenset((first + number) % _WEEK for number in range(count)), start, end)
