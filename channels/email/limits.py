"""Limits that a mail must keep before anything parses it, and where its headers end."""

from __future__ import annotations

import re
from typing import Final

from channels.email.mail import Limits

_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_BARE_CR: Final = re.compile(rb"\r(?!\n)")
_HEADERS_END: Final = re.compile(rb"\r?\n\r?\n|\r\r")


def header_end(raw: bytes, most: int) -> int:
    """Give where the headers end; -1 if that is not within so many bytes."""
    if found := _HEADERS_END.search(raw, 0, most + 4):
        return found.start()
    return len(raw) if len(raw) <= most else -1


def has_odd_ends(raw: bytes, most: int) -> bool:
    """Tell whether lines of the headers end as no program agrees on: a bare CR is none to many."""
    found = _BLANK_LINE.search(raw, 0, most + 4)
    return _BARE_CR.search(raw, 0, found.start() if found else most) is not None


def refusal(raw: bytes, limits: Limits) -> str | None:
    """Say why a mail is not to be parsed, or nothing. Parts and depth are counted on the way."""
    if len(raw) > limits.bytes:
        return f"larger than {limits.bytes:,} bytes"
    if header_end(raw, limits.header_bytes) < 0:
        return f"headers larger than {limits.header_bytes:,} bytes"
    return None
