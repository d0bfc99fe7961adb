"""Standard Webhooks, the sender's side: secrets, and the three headers. Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence

WHSEC = "whsec_"
_SHORTEST, _LONGEST = 24, 64
"""In bytes, as the standard has it."""
_PURPOSE = b"parley callback secret 1"
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]")


def parse_secret(text: str) -> bytes:
    """Give the key that a secret holds; ValueError if it holds none."""
    if not text.startswith(WHSEC):
        raise ValueError("a secret begins with whsec_")
    key = b64decode(text.removeprefix(WHSEC), validate=True)  # binascii.Error is a ValueError
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError("a secret holds from 24 to 64 bytes")
    return key


def show_secret(key: bytes) -> str:
    """Write a key as receivers are given it."""
    return WHSEC + b64encode(key).decode()


def derive_key(secret_key: bytes) -> bytes:
    """Make the key that is used where the operator has set none: the same on all machines."""
    return hmac.new(secret_key, _PURPOSE, hashlib.sha256).digest()


def message_id(delivery: str) -> str:
    """Name a delivery as the standard wants it: a full stop would be taken for a separator."""
    return f"msg_{_NOT_IN_AN_ID.sub('-', delivery)}"


def signed_headers(keys: Sequence[bytes], own: str, at: int, body: bytes) -> dict[str, str]:
    """Give the headers of a message; with each key a signature, so that either may be known."""
    content = f"{own}.{at}.".encode() + body
    codes = (b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode() for key in keys)
    return {
        "webhook-id": own,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{code}" for code in codes),
    }
