"""The links in mail: each names one question and one recipient, and is good for a while. Pure.

    /a/PAYLOAD.SIGNATURE

Whoever has the link can answer in the recipient's name, as whoever has their mailbox could. Opening
it changes nothing; see `link_door`. The signature ends in a letter or digit, because programs that
find links in text leave other signs out.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import Final

import msgspec

from channels.outgoing import QuestionCard
from channels.people import Actor

PATH: Final = "/a/{token}"
PREFIX: Final = "/a/"
_DOMAIN: Final = b"parley email link 1\x00"
_SHAPE: Final = re.compile(r"([A-Za-z0-9_-]{8,2000})\.([0-9a-f]{40})")
_IN_TEXT: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{8,2000}}\.[0-9a-f]{{40}}")
_MAC_LETTERS: Final = 40
_DAYS: Final = 30
_DAY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What a link says."""

    question: str
    email: str
    until: int
    """Milliseconds since 1970."""


class _Payload(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    question: str
    email: str
    until: int


def link_to(card: QuestionCard, email: str, *, public_url: str, now: int, secret: bytes) -> str:
    """Make somebody's link to a question; nothing where no page can be reached from outside."""
    if not public_url or not secret:
        return ""
    until = card.expires_at if card.expires_at is not None else now + _DAYS * _DAY_MS
    token = sign_pass(Pass(question=card.id, email=email.lower(), until=until), secret)
    return f"{public_url.rstrip('/')}{PREFIX}{token}"


def link_actor(email: str) -> Actor:
    """Name whoever holds a link: it went to their mailbox, which is proof enough."""
    address = email.lower()
    return Actor(id=f"email:{address}", email=address, is_authenticated=True, how="link")


def sign_pass(given: Pass, secret: bytes) -> str:
    """Write a link's token."""
    packed = msgspec.json.encode(_Payload(given.question, given.email, given.until))
    body = urlsafe_b64encode(packed).rstrip(b"=").decode()
    return f"{body}.{_mac(body, secret)}"


def read_pass(token: str, secret: bytes) -> Pass | None:
    """Read a link's token, also one whose time is over; nothing if we did not make it."""
    found = _SHAPE.fullmatch(token)
    if found is None or not secret:
        return None
    if not hmac.compare_digest(_mac(found[1], secret), found[2]):
        return None
    try:
        data = urlsafe_b64decode(found[1] + "=" * (-len(found[1]) % 4))
        payload = msgspec.json.decode(data, type=_Payload)
    except (ValueError, msgspec.DecodeError):
        return None
    return Pass(question=payload.question, email=payload.email, until=payload.until)


def without_links(text: str) -> str:
    """Take links out of what somebody quotes or forwards: whoever reads a log could use them."""
    return _IN_TEXT.sub(f"{PREFIX}…", text)


def _mac(body: str, secret: bytes) -> str:
    return hmac.new(secret, _DOMAIN + body.encode(), hashlib.sha256).hexdigest()[:_MAC_LETTERS]
