"""Postmark: JSON with the mail as `RawEmail`. Unsigned: a secret in the address proves it. Pure."""

from __future__ import annotations

from pydantic_core import from_json

from channels.email.mail import Envelope
from channels.email.providers.brought import Brought, Unusable


def parse(body: bytes) -> Brought:
    """Give the mail."""
    try:
        given = from_json(body, allow_inf_nan=False)
    except ValueError as exc:
        raise Unusable("the body is not JSON") from exc
    raw = given.get("RawEmail") if isinstance(given, dict) else None
    if not isinstance(raw, str) or not raw:
        raise Unusable("there is no RawEmail: turn on that the raw mail is included")
    recipient = given.get("OriginalRecipient")
    recipients = (recipient,) if isinstance(recipient, str) and recipient else ()
    # It comes as text, so bytes that were none are lost already.
    return Brought(raw=raw.encode("utf-8", "replace"), envelope=Envelope(recipients=recipients))
