"""SendGrid: a form with the mail as `email`. Unsigned: a secret in the address proves it. Pure."""

from __future__ import annotations

from pydantic_core import from_json

from channels.email.mail import Envelope
from channels.email.providers.brought import Brought, Unusable


def parse(fields: dict[str, bytes]) -> Brought:
    """Give the mail."""
    raw = fields.get("email")
    if not raw:
        raise Unusable("there is no field email: turn on that the raw, full MIME message is posted")
    return Brought(raw=raw, envelope=_envelope(fields.get("envelope", b"")))


def _envelope(told: bytes) -> Envelope:
    """Read the envelope as far as it can be: the mail itself is what counts."""
    try:
        given = from_json(told, allow_inf_nan=False)
    except ValueError:
        return Envelope()
    if not isinstance(given, dict):
        return Envelope()
    to, sender = given.get("to"), given.get("from")
    recipients = tuple(one for one in to if isinstance(one, str)) if isinstance(to, list) else ()
    return Envelope(sender=sender if isinstance(sender, str) else None, recipients=recipients)
