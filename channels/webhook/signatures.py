"""What every scheme is made of: secrets, codes over raw bytes, and times. Pure.

Everything is compared in constant time and as bytes, exactly as the sender must have written it:
a signature in capital letters, or in another spelling of base64, is another signature. Nothing
here says why something failed to the one who sent it.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Literal

from agent_core.errors import ParleyError

Algorithm = Literal["sha1", "sha256", "sha512"]
Encoding = Literal["hex", "base64"]

TOLERANCE = 300
"""Seconds, both ways: how old a time may be, and how far ahead the sender's clock."""

_SECONDS = re.compile(r"[0-9]{1,12}")


class Forged(ParleyError):
    """The request does not prove who sent it; the words are for the operator's log alone."""


class Unsigned(Forged):
    """What should prove it is not there at all."""


def header(headers: Mapping[str, str], name: str) -> bytes:
    """Give a header as the bytes that came, or refuse a request without it."""
    value = headers.get(name)
    if not value:
        raise Unsigned(f"the header {name} is missing")
    return as_bytes(value)


def as_bytes(value: str) -> bytes:
    """Undo what the server did to make text of a header that need not be any."""
    return value.encode("utf-8", "surrogateescape")


def code(secret: bytes, content: bytes, algorithm: Algorithm, encoding: Encoding) -> bytes:
    """Give the HMAC of something, as a sender writes it."""
    # Not hmac.digest: that lets go of the interpreter each time, and may wait long to get it back.
    digest = hmac.new(secret, content, algorithm).digest()
    return digest.hex().encode() if encoding == "hex" else b64encode(digest)


def require_code(
    given: Iterable[bytes],
    secrets: Sequence[bytes],
    content: bytes,
    *,
    algorithm: Algorithm = "sha256",
    encoding: Encoding = "hex",
) -> None:
    """Refuse unless one of the codes given is that of one of the secrets."""
    expected = [code(secret, content, algorithm, encoding) for secret in secrets]
    _require(given, expected, "the signature does not fit")


def require_token(given: bytes, secrets: Sequence[bytes]) -> None:
    """Refuse unless it is one of the secrets; by digests, so that not even a length is told."""
    expected = [sha256(secret).digest() for secret in secrets]
    _require([sha256(given).digest()], expected, "the token is another one")


def require_fresh(seconds: bytes, now: float) -> None:
    """Refuse a time that is not one, too long ago, or too far ahead."""
    text = seconds.decode("utf-8", "replace")
    if not _SECONDS.fullmatch(text):
        raise Forged("the time is not in whole seconds since 1970")
    if abs(now - int(text)) > TOLERANCE:
        raise Forged(f"the time is more than {TOLERANCE} seconds off")


def _require(given: Iterable[bytes], expected: Sequence[bytes], words: str) -> None:
    """Compare each with each, and all of them: which one fitted takes no other time."""
    fits = False
    for one in given:
        for other in expected:
            fits |= hmac.compare_digest(one, other)
    if not fits:
        raise Forged(words)
