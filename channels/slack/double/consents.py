"""OAuth's middle: a person has allowed the app somewhere, and the app may fetch its token."""

from __future__ import annotations

from dataclasses import dataclass

from channels.slack.double.errors import ApiError
from channels.slack.double.stamps import Stamps

CODE_SECONDS = 600.0


@dataclass(slots=True, kw_only=True)
class Consent:
    """One yes: for a workspace, or for a whole organisation."""

    scopes: tuple[str, ...]
    redirect_uri: str
    user: str
    made: float
    team_id: str | None
    enterprise_id: str | None = None
    nonce: str = ""
    """Of somebody who signs in: it comes back in what they are known by."""
    is_used: bool = False


class Consents:
    """All of them, by the code that went through the browser."""

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._by_code: dict[str, Consent] = {}

    def add(self, consent: Consent) -> str:
        """Keep a yes, and give its code."""
        code = f"{self._stamps.now()}.{self._stamps.secret()}"
        self._by_code[code] = consent
        return code

    def use(self, code: str, redirect_uri: str) -> Consent:
        """Exchange a code: once, in time, from where it was sent to."""
        consent = self._by_code.get(code)
        if consent is None:
            raise ApiError("invalid_code")
        if consent.is_used:
            raise ApiError("code_already_used")
        if self._stamps.clock() - consent.made > CODE_SECONDS:
            raise ApiError("code_expired")
        if redirect_uri and redirect_uri != consent.redirect_uri:
            raise ApiError("bad_redirect_uri")
        consent.is_used = True
        return consent
