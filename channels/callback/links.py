"""Response URLs: a signed token that is the right to answer one question, once, for a time. Pure.

    BODY.SIGNATURE          both base64url; the body names the question, the callback and the end

That it works once only is the question's to see to: open → answered is one compare-and-set, and the
token is the key of the message in the inbox.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

import msgspec

from agent_core.errors import ParleyError

_PURPOSE = b"parley response url 1\x00"
_SHAPE = re.compile(r"([A-Za-z0-9_-]{8,4000})\.([A-Za-z0-9_-]{43})")


class NoSuchLink(ParleyError):
    """We have not made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Who may answer what, until when."""

    question: str
    callback: str
    """The mark of the address that it was sent to: see `addresses.mark`."""
    host: str
    """For the log: who answered."""
    expires_at: int
    """Milliseconds since 1970."""


def sign_link(link: Link, secret: bytes) -> str:
    """Make the token."""
    value = [link.question, link.callback, link.host, link.expires_at]
    body = urlsafe_b64encode(msgspec.json.encode(value)).rstrip(b"=").decode()
    return f"{body}.{_signature(body, secret)}"


def read_link(token: str, secret: bytes) -> Link:
    """Read a token, or raise NoSuchLink: one that is not ours, was changed or was cut is none."""
    found = _SHAPE.fullmatch(token)
    if not found or not hmac.compare_digest(found[2], _signature(found[1], secret)):
        raise NoSuchLink("there is no such response URL")
    padded = found[1] + "=" * (-len(found[1]) % 4)
    question, callback, host, expires_at = msgspec.json.decode(
        urlsafe_b64decode(padded), type=tuple[str, str, str, int]
    )
    return Link(question=question, callback=callback, host=host, expires_at=expires_at)


def _signature(body: str, secret: bytes) -> str:
    digest = hmac.new(secret, _PURPOSE + body.encode(), hashlib.sha256).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
