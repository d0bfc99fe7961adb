"""Notices: what to tell on the next page, once. Signed, so that nobody else puts words there."""

from __future__ import annotations

from typing import Final

from gateway.inbox.secrets import is_mark, mark

_PURPOSE: Final = "notice"
_LONGEST: Final = 400


def write_notice(words: str, secret: bytes) -> str:
    """Give the cookie that carries a notice."""
    words = words[:_LONGEST]
    return f"{mark(secret, _PURPOSE, words)} {words}"


def read_notice(cookie: str, secret: bytes) -> str:
    """Give the words of a cookie that is ours; else nothing."""
    given, _, words = cookie.partition(" ")
    return words if words and is_mark(given, secret, _PURPOSE, words) else ""
