"""The connections to Slack, shared by everything that calls it; opened when first needed.

A process that only sends is never told to start, so nothing here waits for that.
"""

from __future__ import annotations

from typing import Final

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

DEFAULT_API_URL: Final = "https://slack.com/api/"
CALL_SECONDS: Final = 10


class Connections:
    """One pool of connections, and a client for each token on it."""

    def __init__(self, api_url: str = "") -> None:
        self.api_url = f"{(api_url or DEFAULT_API_URL).rstrip('/')}/"
        self._session: aiohttp.ClientSession | None = None
        self._clients: dict[str, AsyncWebClient] = {}

    def session(self) -> aiohttp.ClientSession:
        """Give the pool."""
        if self._session is None:
            # The SDK's own time limit is not for a session that it is given.
            limit = aiohttp.ClientTimeout(total=CALL_SECONDS)
            self._session = aiohttp.ClientSession(timeout=limit)
        return self._session

    def bare(self) -> AsyncWebClient:
        """Give a client without a token, for those who bring one with each call."""
        return self._new_client(None)

    def client(self, token: str) -> AsyncWebClient:
        """Give the client of a token.

        It doesn't try again by itself: a delivery waits in the outbox, where it blocks nobody.
        """
        if token not in self._clients:
            self._clients[token] = self._new_client(token)
        return self._clients[token]

    def forget(self, token: str) -> None:
        """Drop the client of a token that was rotated or revoked."""
        self._clients.pop(token, None)

    async def close(self) -> None:
        """Let go of all connections; the next call opens new ones."""
        session, self._session = self._session, None
        self._clients.clear()
        if session is not None:
            await session.close()

    def _new_client(self, token: str | None) -> AsyncWebClient:
        client = AsyncWebClient(
            token=token,
            base_url=self.api_url,
            session=self.session(),
            # By itself the SDK repeats a call whose connection broke, also one that got through.
            retry_handlers=[],
        )
        if self.api_url != DEFAULT_API_URL:
            client.proxy = None  # the SDK takes a proxy from the environment and ignores NO_PROXY
        return client
