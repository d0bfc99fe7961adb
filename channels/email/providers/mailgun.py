"""Mailgun: a form with the mail as `body-mime`, signed by time and token. Pure.

The signature does not cover the mail, so a token counts once. Mailgun sends raw mail only to an
address that ends in `mime`.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from channels.email.mail import Envelope
from channels.email.providers.brought import Brought, Forged, Unusable
from channels.email.providers.forms import text

FRESH_SECONDS: Final = 9 * 3_600.0
"""What we could not take comes again for eight hours, and nobody says that it is signed anew."""
_AHEAD_SECONDS: Final = 300.0
_LONGEST: Final = 200


def verify(fields: dict[str, bytes], key: str, now: float) -> str:
    """Give the token of a form that Mailgun has signed lately, or raise Forged."""
    timestamp, token = text(fields, "timestamp"), text(fields, "token")
    if not key or not token or max(len(timestamp), len(token)) > _LONGEST:
        raise Forged
    wanted = hmac.new(key.encode(), f"{timestamp}{token}".encode(), hashlib.sha256).hexdigest()
    given = text(fields, "signature")
    if not hmac.compare_digest(wanted.encode(), given.encode()):
        raise Forged
    # Only now: what is signed is a number.
    if not timestamp.isdecimal():
        raise Forged
    if not -_AHEAD_SECONDS <= now - int(timestamp) <= FRESH_SECONDS:
        raise Forged
    return token


def parse(fields: dict[str, bytes]) -> Brought:
    """Give the mail."""
    raw = fields.get("body-mime")
    if not raw:
        raise Unusable("there is no body-mime: let the route's address end in /mime")
    recipients = tuple(one.strip() for one in text(fields, "recipient").split(",") if one.strip())
    sender = text(fields, "sender") if "sender" in fields else None
    return Brought(raw=raw, envelope=Envelope(sender=sender, recipients=recipients))
