"""What a provider brought, and why something is refused."""

from __future__ import annotations

from dataclasses import dataclass

from channels.email.mail import Envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """A mail, and what the provider said of its way."""

    raw: bytes
    envelope: Envelope


class Forged(Exception):
    """It does not prove that it comes from the provider; they hear no more than that."""


class Unusable(Exception):
    """It is the provider's, but there is no mail in it that we could read: say what to change."""


class WrongType(Exception):
    """The body is not of the form that this provider uses."""
