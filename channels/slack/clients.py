"""Who we are in a workspace, and the client that speaks there.

`Clients` is what the rest of the channel knows. One workspace by its token is here; many by OAuth
are beside it. What Slack answers becomes one of our two errors: try later, or give up.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Protocol

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from channels.channel import ChannelError, GiveUp, TryLater
from channels.intake import Memory
from channels.slack.connections import Connections

UNREACHABLE: Final = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError)
"""What the SDK lets out: an error that Slack names, or no answer that makes sense."""
_FINAL: Final = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
    }
)
_TOO_MANY: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """Who we are in a workspace: what we say ourselves must launch nothing."""

    user_id: str
    bot_id: str = ""


class Clients(Protocol):
    """Every workspace that the app is installed in."""

    async def client(self, team: str) -> AsyncWebClient:
        """Give the client of a workspace; raises GiveUp where we aren't installed, or TryLater."""
        ...

    async def bot(self, team: str) -> BotIdentity:
        """Say who we are there; raises as `client` does."""
        ...

    def begin(self, memory: Memory) -> None:
        """Learn where installations are kept."""
        ...

    async def meet(self, team: str, enterprise: str) -> None:
        """Hear from Slack that a workspace belongs to an organisation."""
        ...

    async def forget(self, team: str, enterprise: str, at: float = 0.0) -> None:
        """Hear from Slack that we are not installed there any more, since `at`."""
        ...


class SingleWorkspace:
    """The one workspace that a bot token is for."""

    def __init__(self, token: str, connections: Connections) -> None:
        self._token = token
        self._connections = connections
        self._known: tuple[str, BotIdentity] | None = None
        self._asking: asyncio.Future[tuple[str, BotIdentity]] | None = None

    async def client(self, team: str) -> AsyncWebClient:
        """Give the client, if the workspace is ours."""
        await self.bot(team)
        return self._connections.client(self._token)

    async def bot(self, team: str) -> BotIdentity:
        """Ask Slack once, and remember."""
        ours, bot = self._known or await self._ask()
        if ours and team != ours:
            raise GiveUp(f"the token is for the workspace {ours}, not for {team}")
        return bot

    def begin(self, memory: Memory) -> None:
        """Keep nothing: the token is a setting."""

    async def meet(self, team: str, enterprise: str) -> None:
        """Learn nothing: Slack says itself where the token is good."""

    async def forget(self, team: str, enterprise: str, at: float = 0.0) -> None:  # noqa: ARG002 (which is the one)
        """Ask again: the token may be good no more."""
        self._known = None

    async def _ask(self) -> tuple[str, BotIdentity]:
        """Ask, or wait for who asks already: its failure is ours, or we would queue to fail."""
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._identified())
            self._asking.add_done_callback(_heard)  # those who waited may be gone
        return await asyncio.shield(self._asking)

    async def _identified(self) -> tuple[str, BotIdentity]:
        try:
            self._known = await identify(self._connections.client(self._token))
            return self._known
        finally:
            self._asking = None


def _heard(asking: asyncio.Future[tuple[str, BotIdentity]]) -> None:
    """Look at how it ended, or asyncio complains that nobody did."""
    if not asking.cancelled():
        asking.exception()


async def identify(client: AsyncWebClient) -> tuple[str, BotIdentity]:
    """Ask Slack who a token is, and for which workspace; none: for a whole organisation."""
    try:
        said = await client.auth_test()
    except UNREACHABLE as exc:
        raise translated(exc) from exc
    bot = BotIdentity(user_id=str(said["user_id"]), bot_id=str(said.get("bot_id") or ""))
    return "" if said.get("is_enterprise_install") else str(said["team_id"]), bot


def translated(error: Exception) -> ChannelError:
    """Say what a failed call means for whoever wanted something."""
    if not isinstance(error, SlackApiError):
        return TryLater(f"Slack can't be reached: {type(error).__name__}")
    name = error_name(error)
    if name in _FINAL:
        return GiveUp(f"Slack says {name}")
    return TryLater(f"Slack says {name}", retry_after=retry_after(error))


def error_name(error: SlackApiError) -> str:
    """Give the name that Slack has for what went wrong."""
    said = getattr(error.response, "data", None)  # a proxy's page is no answer of Slack's
    return str(said.get("error") or "nothing") if isinstance(said, dict) else "nothing readable"


def retry_after(error: SlackApiError) -> float | None:
    """Give the seconds that Slack asks us to wait, where it does."""
    if getattr(error.response, "status_code", 0) != _TOO_MANY:
        return None
    told = str(error.response.headers.get("Retry-After", ""))
    return float(told) if told.isdecimal() else 1.0
