"""How old: `90d`, `36h`, `12w`, `1y`, as people write it. Pure."""

from __future__ import annotations

import re

_HOUR_MS = 3_600_000
_UNITS = {"h": _HOUR_MS, "d": 24 * _HOUR_MS, "w": 7 * 24 * _HOUR_MS, "y": 365 * 24 * _HOUR_MS}
_AGE = re.compile(r"(\d{1,6})\s*([hdwy])")


def parse_age(text: str) -> int:
    """Give an age in milliseconds, or raise a ValueError that says what it should look like."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"an age looks like 36h, 90d, 12w or 1y, not {text!r}")
    return int(found[1]) * _UNITS[found[2]]
