"""Tokens: who holds one, for which workspace or organisation, with which scopes, until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from channels.slack.double.errors import ApiError

ALL_SCOPES = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "reactions:write",
    "team:read",
    "users:read",
    "users:read.email",
)
"""What a workspace grants by itself. Without `chat:write.public`: an app must be invited."""


@dataclass(slots=True, kw_only=True)
class Grant:
    """One token. An organisation's has no team: it is good for each of its workspaces."""

    token: str
    app_id: str
    scopes: tuple[str, ...]
    team_id: str | None = None
    enterprise_id: str | None = None
    user: str = ""
    """Of somebody who signed in: the person's own, not the app's."""
    is_app_level: bool = False
    expires_at: float | None = None
    refresh_token: str | None = None
    why_invalid: str | None = None
    """`token_revoked`, `account_inactive`: what Slack says of it from now on."""

    def need(self, *scopes: str) -> None:
        """Refuse unless one of the scopes was granted."""
        if not scopes or set(scopes) & set(self.scopes):
            return
        raise ApiError("missing_scope", needed=",".join(scopes), provided=",".join(self.scopes))


class Grants:
    """All tokens, by what they say."""

    def __init__(self) -> None:
        self._by_token: dict[str, Grant] = {}

    def add(self, grant: Grant) -> Grant:
        """Keep a new token."""
        self._by_token[grant.token] = grant
        return grant

    def check(self, token: str | None, now: float) -> Grant:
        """Find the grant of a token, or say what is wrong with it."""
        if not token:
            raise ApiError("not_authed")
        grant = self._by_token.get(token)
        if grant is None:
            raise ApiError("invalid_auth")
        if grant.why_invalid:
            raise ApiError(grant.why_invalid)
        if grant.expires_at is not None and now >= grant.expires_at:
            raise ApiError("token_expired")
        return grant

    def for_refresh(self, refresh_token: str) -> Grant:
        """Find the grant that this refresh token renews."""
        for grant in self._by_token.values():
            if grant.refresh_token == refresh_token and not grant.why_invalid:
                return grant
        raise ApiError("invalid_refresh_token")

    def of(self, *, team_id: str | None, enterprise_id: str | None) -> Iterable[Grant]:
        """Give the tokens of a workspace and of the organisation it belongs to."""
        for grant in list(self._by_token.values()):
            if grant.is_app_level:
                continue
            if (team_id and grant.team_id == team_id) or (
                enterprise_id and grant.team_id is None and grant.enterprise_id == enterprise_id
            ):
                yield grant
