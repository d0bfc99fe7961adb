"""A keyed hash for tests: what the server makes of its secret key."""

from __future__ import annotations

import hmac

_KEY = b"a key for tests, and for nothing else"


def seal(text: bytes) -> bytes:
    """Hash with our key."""
    return hmac.digest(_KEY, text, "sha256")


def another_seal(text: bytes) -> bytes:
    """Hash with another key."""
    return hmac.digest(_KEY[::-1], text, "sha256")
