"""Signed tokens in addresses: `agent+TOKEN@example.com` names a question, a thread or a delivery.

Mail servers change the case of letters and cut a local part at 64 characters (RFC 5321, 4.5.3.1.1),
so a token is base32, and short: an id of our own making is packed into its bytes. The signature is
80 bits of HMAC-SHA256; whoever guesses at it has to send mail for each guess.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

from agent_core.errors import ParleyError
from channels.email.mail import Address, Purpose, Token

_DOMAIN: Final = b"parley email token 1\x00"
_ID_DOMAIN: Final = b"parley email message id 1\x00"
_MAC_BYTES: Final = 10
_LONGEST_PACKED: Final = 14
_SHAPE: Final = re.compile(r"[a-z2-7]{19,40}")
_OURS: Final = re.compile(r"(q|th)_([0-9a-f]{20})(?:\.([1-9]\d{0,8}))?")
_PURPOSES: Final[dict[Purpose, int]] = {"reply": 1, "bounce": 2}
_TAGS: Final = {"": 0, "q": 1, "th": 2}
_MESSAGE_ID: Final = re.compile(r"<?([^\s<>@]{1,200})\.([a-z2-7]{16})@[^\s<>@]{1,255}>?")


class TokenTooLong(ParleyError):
    """An id was chosen that does not fit into an address; name its thread or delivery instead."""


def sign_token(reference: str, purpose: Purpose, secret: bytes) -> str:
    """Make the token that names something."""
    body = _packed(reference, purpose)
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
    return _unpacked(body, lower)


# --- addresses ------------------------------------------------------------------------------------


def tagged(address: str, token: str) -> str:
    """Put a token into an address of ours."""
    local, _, domain = address.rpartition("@")
    return f"{local}+{token}@{domain}"


def tag_of(address: Address, ours: str) -> str:
    """Give the tag of an address, in lower case, if it is ours; of any, where ours is not known."""
    local, _, domain = address.email.lower().rpartition("@")
    base, _, tag = local.partition("+")
    own_local, _, own_domain = ours.lower().rpartition("@")
    return tag if not ours or (base, domain) == (own_local.partition("+")[0], own_domain) else ""


# --- message ids ----------------------------------------------------------------------------------


def mint_message_id(delivery: str, domain: str, secret: bytes) -> str:
    """Make the Message-ID of a delivery: the same for each try, and only ours to make."""
    return f"<{delivery}.{_text(_mac(_ID_DOMAIN + delivery.lower().encode(), secret))}@{domain}>"


def delivery_of(message_id: str, secret: bytes) -> str:
    """Give the delivery that a Message-ID of ours names. The domain may have been rewritten."""
    found = _MESSAGE_ID.fullmatch(message_id.strip().lower())
    if not found or not secret:
        return ""
    wanted = _text(_mac(_ID_DOMAIN + found[1].encode(), secret))
    return found[1] if hmac.compare_digest(wanted.encode(), found[2].encode()) else ""


# --- bytes ----------------------------------------------------------------------------------------


def _packed(reference: str, purpose: Purpose) -> bytes:
    """Put purpose and reference into at most 15 bytes."""
    if found := _OURS.fullmatch(reference):
        number = int(found[3] or 0)
        rest = bytes.fromhex(found[2]) + number.to_bytes((number.bit_length() + 7) // 8, "big")
        return bytes([_PURPOSES[purpose] << 4 | _TAGS[found[1]]]) + rest
    plain = reference.encode()
    if not plain or len(plain) > _LONGEST_PACKED:
        raise TokenTooLong(
            f"{reference!r} does not fit into an address: {_LONGEST_PACKED} bytes do"
        )
    return bytes([_PURPOSES[purpose] << 4 | _TAGS[""]]) + plain


def _unpacked(body: bytes, text: str) -> Token | None:
    purpose = next((name for name, number in _PURPOSES.items() if number == body[0] >> 4), None)
    prefix = next((name for name, number in _TAGS.items() if number == body[0] & 15), None)
    if purpose is None or prefix is None:
        return None
    if not prefix:
        return Token(purpose=purpose, reference=body[1:].decode("utf-8", "replace"), text=text)
    number = int.from_bytes(body[11:], "big")
    reference = f"{prefix}_{body[1:11].hex()}" + (f".{number}" if number else "")
    return Token(purpose=purpose, reference=reference, text=text)


def _mac(data: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, data, hashlib.sha256)[:_MAC_BYTES]


def _text(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()
