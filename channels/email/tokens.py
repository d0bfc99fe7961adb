"""Signed tokens in addresses: `agent+TOKEN@example.com` names a question, a thread or a delivery.

Mail servers change the case of letters and cut a local part at 64 characters (RFC 5321, 4.5.3.1.1),
so a token is base32, and short: an id of our own making is packed into its bytes, see `packing`.
The signature is 80 bits of HMAC-SHA256; whoever guesses at it has to send mail for each guess.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from channels.email.mail import Address, Purpose, Token
from channels.email.packing import TokenTooLong, packed, unpacked

_DOMAIN: Final = b"parley email token 1\x00"
_ID_DOMAIN: Final = b"parley email message id 1\x00"
_MAC_BYTES: Final = 10
_SHAPE: Final = re.compile(r"[a-z2-7]{19,56}")
_LONGEST_LOCAL: Final = 64
_REROUTED: Final = ">"
_SAFE_REROUTED: Final = "~"
"""The ids of some deliveries end in an angle, which would end a Message-ID."""
_MESSAGE_ID: Final = re.compile(r"<?([^\s<>@]{1,200})\.([a-z2-7]{16})@[^\s<>@]{1,255}>?")


def sign_token(reference: str, purpose: Purpose, secret: bytes) -> str:
    """Make the token that names something."""
    body = packed(reference, purpose)
    return _text(body + _mac(_DOMAIN + body, secret))


def verify_token(text: str, secret: bytes) -> Token | None:
    """Read a token, or give nothing: one that is not ours, was changed or was cut is none."""
    lower = text.lower()
    if not secret or not _SHAPE.fullmatch(lower):
        return None
    try:
        data = base64.b32decode(lower.upper() + "=" * (-len(lower) % 8))
    except (binascii.Error, ValueError):
        return None
    body, given = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
    if not hmac.compare_digest(given, _mac(_DOMAIN + body, secret)) or _text(data) != lower:
        return None
    found = unpacked(body)
    return Token(purpose=found[0], reference=found[1], text=lower) if found else None


# --- addresses ------------------------------------------------------------------------------------


def tagged(address: str, token: str) -> str:
    """Put a token into an address of ours."""
    local, _, domain = address.rpartition("@")
    return f"{local}+{token}@{domain}"


def signed_address(address: str, references: Iterable[str], purpose: Purpose, secret: bytes) -> str:
    """Put into an address of ours the first of some references that fits there, or none.

    Callers choose ids of questions as they like; one that is too long is named by its thread. A
    reply to an address without a token is still found by its References.
    """
    for reference in references:
        with suppress(TokenTooLong):
            made = tagged(address, sign_token(reference, purpose, secret))
            if len(made.rpartition("@")[0]) <= _LONGEST_LOCAL:
                return made
    return address


def tag_of(address: Address, ours: str) -> str:
    """Give the tag of an address, in lower case, if it is ours; of any, where ours is not known."""
    tag = address.email.lower().rpartition("@")[0].partition("+")[2]
    return tag if not ours or is_ours(address.email, ours) else ""


def is_ours(email: str, ours: str) -> bool:
    """Tell whether an address is our own, with any tag or none."""
    return bool(ours) and _untagged(email) == _untagged(ours)


# --- message ids ----------------------------------------------------------------------------------


def mint_message_id(delivery: str, domain: str, secret: bytes) -> str:
    """Make the Message-ID of a delivery: the same for each try, and only ours to make."""
    left = delivery.lower().replace(_REROUTED, _SAFE_REROUTED)
    return f"<{left}.{_text(_mac(_ID_DOMAIN + left.encode(), secret))}@{domain}>"


def delivery_of(message_id: str, secret: bytes) -> str:
    """Give the delivery that a Message-ID of ours names. The domain may have been rewritten."""
    found = _MESSAGE_ID.fullmatch(message_id.strip().lower())
    if not found or not secret:
        return ""
    wanted = _text(_mac(_ID_DOMAIN + found[1].encode(), secret))
    if not hmac.compare_digest(wanted.encode(), found[2].encode()):
        return ""
    return found[1].replace(_SAFE_REROUTED, _REROUTED)


# --- pieces ---------------------------------------------------------------------------------------


def _untagged(email: str) -> tuple[str, str]:
    local, _, domain = email.lower().rpartition("@")
    return local.partition("+")[0], domain


def _mac(data: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, data, hashlib.sha256)[:_MAC_BYTES]


def _text(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()
