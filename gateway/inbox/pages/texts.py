"""What others wrote, made fit to be looked at: nothing hidden, nothing turned round, not too long.

Pure. All of it is still text: escaping is the template's business, and nothing here is markup.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Final

import msgspec

from agent_core.json_values import Json
from agent_core.thread.events import Millis
from agent_core.thread.times import as_datetime
from channels.spelling import visible

_TURNING: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufeff]"
)
"""What hides or turns words round. Joiners and marks stay: emoji and many scripts need them."""
_FOLD: Final = 900
_FOLD_LINES: Final = 14
_MOST: Final = 20_000
"""So much of one text stands on a page; the rest is told by its length."""
_CHANNELS: Final = {
    "slack": "Slack",
    "email": "email",
    "web": "API",
    "webhook": "webhook",
    "callback": "callback",
    "event": "event",
}
_STEPS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class Shown(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A text as a page shows it: the beginning, and the rest behind a click."""

    head: str
    rest: str = ""
    cut: int = 0
    """So many characters more are in the log, and not on the page."""


def prose(text: str, *, most: int = _MOST) -> Shown:
    """Show what somebody said."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _folded(_TURNING.sub(lambda one: f"\\u{ord(one.group()):04x}", lines), most)


def code(value: Json, *, most: int = _MOST) -> Shown:
    """Show a value exactly: somebody may decide by it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return exact(text, most=most)


def exact(text: str, *, most: int = _MOST) -> Shown:
    """Show a text with everything written out that can't be seen."""
    return _folded("\n".join(map(visible, text.split("\n"))), most)


def one_line(text: str, most: int = 200) -> str:
    """Show a text in a line of its own: names, titles, options."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[:most]}…"


def channel_of(address: str) -> str:
    """Name the channel of an address, for people; empty for a mere name."""
    channel, found, _ = address.partition(":")
    return _CHANNELS.get(channel, one_line(channel, 20)) if found else ""


def clock(moment: Millis) -> str:
    """Write a moment briefly; a page says once that times are in UTC."""
    return as_datetime(moment).strftime("%d %b %Y, %H:%M:%S")


def iso(moment: Millis) -> str:
    """Write a moment for machines."""
    return as_datetime(moment).isoformat(timespec="seconds")


def millis(moment: datetime) -> Millis:
    """Give a moment as logs have it."""
    return Millis(round(moment.timestamp() * 1000))


def span(ms: int) -> str:
    """Say a length of time in the words that people use: `2 hours`."""
    seconds = max(0, ms) // 1000
    for length, word in _STEPS:
        if seconds >= length:
            count = seconds // length
            return f"{count} {word}{'s' if count > 1 else ''}"
    return "less than a minute"


def _folded(text: str, most: int) -> Shown:
    kept = text[:most]
    at = _fold_at(kept)
    return Shown(head=kept[:at], rest=kept[at:], cut=len(text) - len(kept))


def _fold_at(text: str) -> int:
    """Find where the fold goes: after so many lines, or so many characters, or nowhere."""
    at = -1
    for _ in range(_FOLD_LINES):
        at = text.find("\n", at + 1)
        if at < 0:
            break
    by_lines = at if at >= 0 else len(text)
    return min(by_lines, _FOLD if len(text) > _FOLD + _FOLD // 2 else len(text))
