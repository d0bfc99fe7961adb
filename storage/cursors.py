"""Where the next page of a list begins: a time and an id, so that what is added moves nothing.

The text means nothing to whoever holds it; it only has to come back as it was given.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

from agent_core.thread.events import Millis
from storage.errors import BadCursor
from storage.texts import is_storable


def write_cursor(at: Millis, row_id: str) -> str:
    """Name the last row of a page."""
    return urlsafe_b64encode(f"{at} {row_id}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[Millis, str]:
    """Give the last row of the page before, or raise BadCursor."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        at, _, row_id = urlsafe_b64decode(padded).decode().partition(" ")
        when = int(at)
    except ValueError as exc:
        raise BadCursor(f"not a cursor of a list: {cursor[:80]!r}") from exc
    if abs(when) >= 2**63 or not is_storable(row_id):
        raise BadCursor(f"not a cursor of a list: {cursor[:80]!r}")
    return Millis(when), row_id
