"""Signing in with Slack: OpenID Connect, the code flow.

The id token comes straight from Slack over TLS, in answer to our secret; so its claims count
without a look at its signature (OpenID Connect Core 1.0, section 3.1.3.7, point 6). They are
checked one by one, and `openid.connect.userInfo` must name the same person.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit

import msgspec
from slack_sdk.errors import SlackApiError

from channels.identity import Unidentified
from channels.people import Actor
from channels.slack.clients import UNREACHABLE
from channels.slack.connections import DEFAULT_API_URL, Connections
from channels.slack.manifest import USER_SCOPES

ISSUER: Final = "https://slack.com"
TEAM: Final = "https://slack.com/team_id"
USER: Final = "https://slack.com/user_id"
_LEEWAY_SECONDS: Final = 60

_AGAIN = "Slack did not confirm who you are. Please try again."
_AWAY = "Slack can't be reached just now. Please try again in a moment."


class SlackOpenId:
    """Asks Slack who somebody is."""

    def __init__(
        self,
        *,
        client_id: str,
        client_secret: str,
        redirect_uri: str,
        api_url: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = redirect_uri
        self._clock = clock
        self._connections = Connections(api_url)

    def address(self, *, state: str, nonce: str) -> str:
        """Give Slack's page."""
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "scope": " ".join(USER_SCOPES),
            "state": state,
            "nonce": nonce,
            "redirect_uri": self._redirect_uri,
        }
        return f"{_authorize_url(self._connections.api_url)}?{urlencode(query)}"

    async def identify(self, code: str, *, nonce: str) -> Actor:
        """Exchange the code, check what Slack says, and give who it is."""
        try:
            claims = await self._claims(code)
            self._check(claims, nonce)
            told = await self._told(str(claims["access_token"]))
        except SlackApiError as exc:
            raise Unidentified(_AGAIN) from exc
        except UNREACHABLE as exc:
            raise Unidentified(_AWAY) from exc
        team, user = claims.get(TEAM), claims.get(USER)
        if not team or not user or (team, user) != (told.get(TEAM), told.get(USER)):
            raise Unidentified(_AGAIN)
        name = str(told.get("name") or "")
        return Actor(id=f"slack:{team}:{user}", name=name, how="slack")

    async def close(self) -> None:
        """Let go of connections."""
        await self._connections.close()

    async def _claims(self, code: str) -> dict[str, Any]:
        """Give what the id token claims, and the access token beside it."""
        answer = await self._connections.bare().openid_connect_token(
            client_id=self._client_id,
            client_secret=self._client_secret,
            code=code,
            redirect_uri=self._redirect_uri,
            grant_type="authorization_code",
        )
        return {**_read(str(answer.get("id_token"))), "access_token": answer.get("access_token")}

    async def _told(self, token: str) -> Mapping[str, Any]:
        answer = await self._connections.bare().openid_connect_userInfo(token=token)
        data: Any = answer.data
        return data if isinstance(data, dict) else {}

    def _check(self, claims: Mapping[str, Any], nonce: str) -> None:
        audience, expires = claims.get("aud"), claims.get("exp")
        fits = (
            claims.get("iss") == ISSUER,
            audience in (self._client_id, [self._client_id]),
            isinstance(expires, int) and expires + _LEEWAY_SECONDS > self._clock(),
            hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()),
        )
        if not all(fits):
            raise Unidentified(_AGAIN)


def _read(token: str) -> dict[str, Any]:
    """Read the middle part of a JSON Web Token."""
    parts = token.split(".")
    try:
        raw = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(raw, type=dict[str, Any])
    except (IndexError, binascii.Error, ValueError) as exc:
        raise Unidentified(_AGAIN) from exc


def _authorize_url(api_url: str) -> str:
    """Let a double that stands in for Slack stand in for its page, too."""
    if api_url == DEFAULT_API_URL:
        return f"{ISSUER}/openid/connect/authorize"
    parts = urlsplit(api_url)
    return urlunsplit((parts.scheme, parts.netloc, "/openid/connect/authorize", "", ""))
