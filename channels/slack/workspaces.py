"""Many workspaces: the client of each, with its token kept fresh.

Tokens that expire are rotated before they do. Two processes may try at the same time: Slack takes
the refresh token once, so whoever loses reads what the other has kept.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from channels.channel import GiveUp, TryLater
from channels.intake import Memory
from channels.slack.clients import UNREACHABLE, BotIdentity
from channels.slack.connections import Connections
from channels.slack.installations import Installations

_REMEMBERED_SECONDS = 60.0
"""How long an installation is known without looking: an uninstall on another machine acts then."""
_ROTATE_MINUTES = 30


class InstalledWorkspaces:
    """`channels.slack.clients.Clients` for every workspace that installed the app."""

    def __init__(self, connections: Connections, *, client_id: str, client_secret: str) -> None:
        self._stored: Installations | None = None
        self._connections = connections
        self._client_id = client_id
        self._client_secret = client_secret
        self._known: dict[str, tuple[float, Installation]] = {}
        self._looking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def begin(self, memory: Memory) -> None:
        """Learn where installations are kept."""
        self._stored = Installations(memory)

    @property
    def _installations(self) -> Installations:
        if self._stored is None:
            raise TryLater("the channel has not started yet")
        return self._stored

    async def client(self, team: str) -> AsyncWebClient:
        """Give the client of a workspace, with a token that is good for a while."""
        token = (await self._installation(team)).bot_token
        if not token:
            raise GiveUp(f"the app has no bot in {team}: install it again")
        return self._connections.client(token)

    async def bot(self, team: str) -> BotIdentity:
        """Say who we are there."""
        found = await self._installation(team)
        return BotIdentity(user_id=found.bot_user_id or "", bot_id=found.bot_id or "")

    async def meet(self, team: str, enterprise: str) -> None:
        """Learn that a workspace belongs to an organisation."""
        if team not in self._known:
            await self._installations.meet(team, enterprise)

    async def forget(self, team: str, enterprise: str, at: float = 0.0) -> None:
        """Drop an installation: the app was uninstalled, or its token revoked.

        Slack sends that word again and late; an installation made since then stays.
        """
        owners = await self._installations.owners()
        owner = (team if team in owners else enterprise) or team  # either may be it
        self._known.pop(team, None)
        current = await self._installations.find(owner)
        if current is None or not at or current.installed_at <= at + 1:
            await self._installations.forget(owner)

    async def _installation(self, team: str) -> Installation:
        looked_at, known = self._known.get(team, (0.0, None))
        if known is not None and time.monotonic() - looked_at < _REMEMBERED_SECONDS:
            return known
        async with self._looking[team]:
            found = await self._installations.find(team)
            if found is None:
                self._known.pop(team, None)
                raise GiveUp(f"the app is not installed in {team}")
            fresh = await self._fresh(team, found)
            self._known[team] = (time.monotonic(), fresh)
            return fresh

    async def _fresh(self, team: str, installation: Installation) -> Installation:
        """Rotate the token if it ends soon."""
        rotator = AsyncTokenRotator(
            client_id=self._client_id,
            client_secret=self._client_secret,
            client=self._connections.bare(),
        )
        try:
            rotated = await rotator.perform_token_rotation(
                installation=installation, minutes_before_expiration=_ROTATE_MINUTES
            )
        except SlackTokenRotationError as exc:
            return await self._rotated_elsewhere(team, installation, exc)
        except UNREACHABLE as exc:
            if _is_good(installation):
                return installation
            raise TryLater(f"Slack can't be reached: {type(exc).__name__}") from exc
        if rotated is None:
            return installation
        await self._installations.async_save(rotated)
        self._connections.forget(installation.bot_token or "")
        return rotated

    async def _rotated_elsewhere(
        self, team: str, stale: Installation, error: SlackTokenRotationError
    ) -> Installation:
        kept = await self._installations.find(team)
        if kept is not None and kept.bot_token != stale.bot_token:
            return kept
        if _is_good(stale):
            return stale
        raise GiveUp(f"the token of {team} has ended and can't be renewed") from error


def _is_good(installation: Installation) -> bool:
    ends = installation.bot_token_expires_at
    return ends is None or ends > time.time()
