"""Secrets of the pages: tokens by chance, what is kept of them, and marks that only we can make.

Each kind of mark is derived for its own purpose, so that none can stand for another.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode

_BYTES = 32


def new_token() -> str:
    """Make a secret that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def digest(token: str) -> str:
    """Give what is kept of a token: it can't be turned back."""
    return hashlib.sha256(token.encode()).hexdigest()


def mark(secret: bytes, purpose: str, text: str) -> str:
    """Sign a text for one purpose."""
    made = hmac.digest(secret, f"parley inbox {purpose}\0{text}".encode(), "sha256")
    return urlsafe_b64encode(made).decode().rstrip("=")


def is_mark(given: str, secret: bytes, purpose: str, text: str) -> bool:
    """Tell whether a mark is ours; how near it was, no time tells."""
    return hmac.compare_digest(given.encode(), mark(secret, purpose, text).encode())
