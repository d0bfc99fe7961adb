"""Is it Slack? The signature of a request over HTTP, before anything in it is read.

The SDK computes it. Before the SDK stand the forms of a request that would make it raise: a time
that is no number, letters outside ASCII, a body that is no text.
"""

from __future__ import annotations

from typing import Final

from slack_sdk.signature import Clock, SignatureVerifier

from channels.web_routes import WebRequest

_MOST_DIGITS: Final = 12


class Signatures:
    """Knows the signing secret of the app."""

    def __init__(self, secret: str, clock: Clock | None = None) -> None:
        self._verifier = SignatureVerifier(secret, clock or Clock())

    def are_good(self, request: WebRequest) -> bool:
        """Say whether Slack signed this, not more than five minutes ago."""
        at = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not (at.isascii() and at.isdecimal() and len(at) <= _MOST_DIGITS):
            return False
        try:
            return signature.isascii() and self._verifier.is_valid(request.body, at, signature)
        except UnicodeDecodeError:
            return False
