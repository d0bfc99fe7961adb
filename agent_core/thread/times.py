"""Moments, as people read them. No clock: the shell brings the time."""

from __future__ import annotations

from datetime import UTC, datetime

from agent_core.thread.events import Millis

_LAST = 253_402_300_799_000
"""The end of the year 9999: a forged log may hold any number."""


def as_datetime(moment: Millis) -> datetime:
    """Turn a log's time into an aware datetime."""
    return datetime.fromtimestamp(max(0, min(moment, _LAST)) / 1000, tz=UTC)


def spoken(moment: Millis) -> str:
    """Write a moment for people: `2026-11-16 09:30 UTC`."""
    return as_datetime(moment).strftime("%Y-%m-%d %H:%M UTC")
