"""One call to Slack: in its turn, with what went wrong said in our own errors."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from channels.channel import TryLater
from channels.slack.clients import UNREACHABLE, Clients
from channels.slack.failures import failure
from channels.slack.pacing import Pace


class Line:
    """The line to one channel of one workspace."""

    def __init__(self, client: AsyncWebClient, pace: Pace, team: str, channel: str) -> None:
        self.client = client
        self.pace = pace
        self.team = team
        self.channel = channel

    @property
    def key(self) -> str:
        """Name the channel among all workspaces."""
        return f"{self.team}:{self.channel}"

    async def call(self, method: str, calling: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
        """Give what Slack answers, or raise one of our errors."""
        return await called(method, calling, self.pace, self.key)


async def line(clients: Clients, pace: Pace, team: str, channel: str) -> Line:
    """Get a line; raises GiveUp where the app isn't installed."""
    return Line(await clients.client(team), pace, team, channel)


async def called(
    method: str, calling: Awaitable[AsyncSlackResponse], pace: Pace, key: str
) -> dict[str, Any]:
    """Await a call of the SDK's and translate how it failed."""
    try:
        answer = (await calling).data
    except UNREACHABLE as exc:
        error = failure(exc, method)
        if isinstance(error, TryLater) and error.retry_after is not None:
            pace.hold(method, key, error.retry_after)
        raise error from exc
    if not isinstance(answer, dict):  # the SDK takes any page with a 200 for an answer
        raise TryLater(f"what answered {method} was not Slack")
    return answer
