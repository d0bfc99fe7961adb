"""Access tokens for XOAUTH2: fetched with the refresh token, and kept until shortly before the end.

SMTP and IMAP of one mailbox share them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

import aiohttp
import msgspec

from channels.channel import TryLater
from channels.email.options import OAuth

_log = logging.getLogger("parley.email")

_EARLY_SECONDS: Final = 120.0
"""So long before its end a token is renewed: a session that begins now must still be let in."""
_MOST_BYTES: Final = 100_000


class _Granted(msgspec.Struct):
    """What the token server answers (RFC 6749, 5.1)."""

    access_token: str
    expires_in: float = 3_600.0


class AccessTokens:
    """Gives a token that is good for a while."""

    def __init__(
        self,
        oauth: OAuth,
        *,
        seconds: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take how long the token server may take."""
        self._oauth = oauth
        self._seconds = seconds
        self._clock = clock
        self._fetching = asyncio.Lock()
        self._token = ""
        self._good_until = 0.0

    async def token(self) -> str:
        """Give the token, or raise TryLater when there is none to be had now."""
        async with self._fetching:
            if not self._token or self._clock() >= self._good_until:
                granted = await self._fetched()
                self._token = granted.access_token
                early = min(_EARLY_SECONDS, granted.expires_in / 2)
                self._good_until = self._clock() + granted.expires_in - early
            return self._token

    def forget(self) -> None:
        """Fetch another next time: a server has refused this one."""
        self._token = ""

    async def _fetched(self) -> _Granted:
        try:
            status, body = await self._asked()
        except (aiohttp.ClientError, TimeoutError, OSError) as exc:
            raise TryLater(f"the token server can't be reached: {type(exc).__name__}") from exc
        if status != 200:  # noqa: PLR2004 (RFC 6749, 5.1)
            # Also a refusal: whoever runs this must renew the consent, and no mail is lost by it.
            _log.error("no access token", extra={"status": status})
            raise TryLater(f"the token server answers {status}: is the refresh token still good?")
        try:
            granted = msgspec.json.decode(body, type=_Granted)
        except msgspec.DecodeError as exc:
            raise TryLater("the token server's answer can't be read") from exc
        if not granted.access_token.isprintable() or not granted.access_token.isascii():
            raise TryLater("the token server's answer holds no token")
        return granted

    async def _asked(self) -> tuple[int, bytes]:
        form = {
            "grant_type": "refresh_token",
            "client_id": self._oauth.client_id,
            "client_secret": self._oauth.client_secret,
            "refresh_token": self._oauth.refresh_token,
        }
        limit = aiohttp.ClientTimeout(total=self._seconds)
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(self._oauth.token_url, data=form, allow_redirects=False) as answer,
        ):
            return answer.status, await answer.content.read(_MOST_BYTES)
