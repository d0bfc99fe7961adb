"""The key of the audit: of its own, and HKDF's."""

from __future__ import annotations

from hashlib import blake2b

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.audit.key import audit_seal


def test_key_is_derived_as_rfc_5869_says() -> None:
    """The same as a library's, so that anybody can check a chain with other tools."""
    secret = b"0123456789abcdef" * 2
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"parley audit v1").derive(secret)

    assert audit_seal(secret)(b"text") == blake2b(b"text", key=key, digest_size=32).digest()
    assert audit_seal(secret)(b"text") != audit_seal(secret + b"x")(b"text")
