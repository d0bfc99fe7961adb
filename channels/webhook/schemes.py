"""The schemes: how each kind of sender proves who it is, and what it calls a delivery. Pure.

A scheme takes the raw request and gives the delivery's own id, or nothing where the sender has
none; the digest of the body stands for it then. An id that is not signed is only believed where
whoever can change it could send anything anyway.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, TypeAlias

from pydantic_core import from_json

from channels.webhook.signatures import (
    Algorithm,
    Encoding,
    Forged,
    header,
    require_code,
    require_fresh,
    require_token,
)

SchemeName = Literal[
    "standard", "github", "gitlab", "circleci", "buildkite", "hmac", "bearer", "basic"
]

WHSEC = b"whsec_"
_MOST_SIGNATURES = 10
"""Of one request: each costs a comparison, and an honest sender has one for each secret."""
_SANE_ID = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What a request must fit."""

    scheme: SchemeName
    secrets: tuple[bytes, ...]
    """Several while a secret is rotated."""
    header: str = ""
    """For `hmac`: where the signature stands, in lower case."""
    prefix: str = ""
    """For `hmac`: what stands before it, as in `sha256=`."""
    algorithm: Algorithm = "sha256"
    encoding: Encoding = "hex"
    timestamp: str = ""
    """For `hmac`: the header with the time, in lower case; it must be part of what is signed."""
    signed: str = "{body}"
    """For `hmac`: what is signed, as in `v0:{timestamp}:{body}`."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A request as it came, and when."""

    headers: Mapping[str, str]
    body: bytes
    now: float


def verify(lock: Lock, sealed: Sealed) -> str:
    """Give the delivery's id, or raise Forged."""
    own = _SCHEMES[lock.scheme](lock, sealed)
    return own if _SANE_ID.fullmatch(own) else body_digest(sealed.body)


def body_digest(body: bytes) -> str:
    """Give what stands for the id of a delivery that has none."""
    return f"sha256:{sha256(body).hexdigest()}"


def standard_key(secret: bytes) -> bytes:
    """Give the key that a secret of Standard Webhooks holds; ValueError if it holds none."""
    try:
        key = b64decode(secret.removeprefix(WHSEC), validate=True)
    except binascii.Error as exc:
        raise ValueError("it is not base64, with or without whsec_ before it") from exc
    if not key:
        raise ValueError("it is empty")
    return key


def _standard(lock: Lock, sealed: Sealed) -> str:
    """Check as standardwebhooks.com has it: the id, the time and the body are signed."""
    keys = tuple(standard_key(secret) for secret in lock.secrets)
    return _by_standard(keys, sealed)


def _by_standard(keys: tuple[bytes, ...], sealed: Sealed) -> str:
    own, time = (header(sealed.headers, f"webhook-{part}") for part in ("id", "timestamp"))
    versions = header(sealed.headers, "webhook-signature").split(b" ")[:_MOST_SIGNATURES]
    given = [one.removeprefix(b"v1,") for one in versions if one.startswith(b"v1,")]
    content = b"%b.%b.%b" % (own, time, sealed.body)
    require_code(given, keys, content, encoding="base64")
    require_fresh(time, sealed.now)
    return own.decode("utf-8", "replace")


def _github(lock: Lock, sealed: Sealed) -> str:
    """Check the newer of GitHub's two signatures; the SHA-1 one counts for nothing."""
    given = _after(b"sha256=", header(sealed.headers, "x-hub-signature-256"))
    require_code([given], lock.secrets, sealed.body)
    return sealed.headers.get("x-github-delivery", "")


def _gitlab(lock: Lock, sealed: Sealed) -> str:
    """Check a signing token (`whsec_…`, signed as Standard Webhooks) or a plain secret token.

    The secret's form says which: whoever has set a signing token must not be content with less.
    """
    signing = tuple(standard_key(one) for one in lock.secrets if one.startswith(WHSEC))
    plain = tuple(one for one in lock.secrets if not one.startswith(WHSEC))
    if signing and ("webhook-signature" in sealed.headers or not plain):
        return _by_standard(signing, sealed)
    require_token(header(sealed.headers, "x-gitlab-token"), plain)
    return sealed.headers.get("idempotency-key", "")  # the same for every try; the UUIDs are not


def _circleci(lock: Lock, sealed: Sealed) -> str:
    """Check version 1, the only one; others in the list count for nothing."""
    listed = header(sealed.headers, "circleci-signature").split(b",")[:_MOST_SIGNATURES]
    given = [one.strip().removeprefix(b"v1=") for one in listed if one.strip().startswith(b"v1=")]
    require_code(given, lock.secrets, sealed.body)
    return _id_in(sealed.body)


def _buildkite(lock: Lock, sealed: Sealed) -> str:
    """Check the signature (of the time and the body) or, where that is not sent, the token."""
    if "x-buildkite-signature" not in sealed.headers:
        require_token(header(sealed.headers, "x-buildkite-token"), lock.secrets)
        return ""
    listed = header(sealed.headers, "x-buildkite-signature").split(b",")[:_MOST_SIGNATURES]
    parts = dict(one.strip().partition(b"=")[::2] for one in listed)
    time, given = parts.get(b"timestamp", b""), parts.get(b"signature", b"")
    require_code([given], lock.secrets, b"%b.%b" % (time, sealed.body))
    require_fresh(time, sealed.now)
    return ""


def _hmac(lock: Lock, sealed: Sealed) -> str:
    """Check what the operator has described."""
    given = _after(lock.prefix.encode(), header(sealed.headers, lock.header))
    time = header(sealed.headers, lock.timestamp) if lock.timestamp else b""
    before, _, after = lock.signed.partition("{body}")
    around = [part.encode().replace(b"{timestamp}", time) for part in (before, after)]
    content = b"%b%b%b" % (around[0], sealed.body, around[1])
    require_code([given], lock.secrets, content, algorithm=lock.algorithm, encoding=lock.encoding)
    if lock.timestamp:
        require_fresh(time, sealed.now)
    return ""


def _bearer(lock: Lock, sealed: Sealed) -> str:
    """Check a token (RFC 6750); whoever has it may also name the delivery."""
    require_token(_credentials(sealed, b"bearer"), lock.secrets)
    return sealed.headers.get("idempotency-key", "")


def _basic(lock: Lock, sealed: Sealed) -> str:
    """Check a name and a password (RFC 7617), as Jenkins sends them."""
    written = tuple(b64encode(secret) for secret in lock.secrets)  # the one way to write each
    require_token(_credentials(sealed, b"basic"), written)
    return sealed.headers.get("idempotency-key", "")


def _credentials(sealed: Sealed, kind: bytes) -> bytes:
    name, _, given = header(sealed.headers, "authorization").partition(b" ")
    if name.lower() != kind:  # RFC 9110, section 11.1: in any case of letters
        raise Forged(f"the credentials are not of the kind {kind.decode()}")
    return given.strip(b" ")


def _after(prefix: bytes, given: bytes) -> bytes:
    if not given.startswith(prefix):
        raise Forged("the signature is written in another way")
    return given.removeprefix(prefix)


def _id_in(body: bytes) -> str:
    """Give the payload's own id; it is signed with it."""
    try:
        payload = from_json(body)
    except ValueError:
        return ""  # told to the sender when the payload is read
    own = payload.get("id") if isinstance(payload, dict) else None
    return own if isinstance(own, str) else ""


_Verify: TypeAlias = Callable[[Lock, Sealed], str]

_SCHEMES: Mapping[SchemeName, _Verify] = {
    "standard": _standard,
    "github": _github,
    "gitlab": _gitlab,
    "circleci": _circleci,
    "buildkite": _buildkite,
    "hmac": _hmac,
    "bearer": _bearer,
    "basic": _basic,
}
