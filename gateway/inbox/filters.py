"""Filters of the templates: times, addresses, JSON and ids, as people read them. All give text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_STEPS: Final = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"))


def iso(at: datetime) -> str:
    """Give a time for programs: the script shows it in the reader's own zone."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(at: datetime) -> str:
    """Give a time for people, where no script does."""
    return at.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def ago(at: datetime, now: datetime | None = None) -> str:
    """Tell how long ago, or how soon."""
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    words = span(abs(seconds))
    if words == "now":
        return "just now"
    return f"{words} ago" if seconds > 0 else f"in {words}"


def span(seconds: float | timedelta) -> str:
    """Tell how long, in the largest unit that fits."""
    length = seconds.total_seconds() if isinstance(seconds, timedelta) else seconds
    for size, unit in _STEPS:
        if length >= size:
            return f"{int(length // size)} {unit}"
    return "now" if length < 1 else f"{int(length)} s"


def address(text: str) -> str:
    """Show an address by what people know of it: the channel and its last part."""
    channel, found, rest = text.partition(":")
    if not found:
        return text
    if channel == "email":
        return rest.partition(":")[0]
    return f"{channel} {rest}"


def pretty(value: Any) -> str:  # noqa: ANN401 (any JSON)
    """Show JSON over several lines."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def short(text: str, length: int = 80) -> str:
    """Cut a text to one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def segment(text: str) -> str:
    """Write an id as a part of an address: one that a caller chose may hold any character."""
    return quote(text, safe="")


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "iso": iso,
    "clock": clock,
    "ago": ago,
    "span": span,
    "address": address,
    "pretty": pretty,
    "short": short,
    "segment": segment,
}
