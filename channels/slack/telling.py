"""Telling somebody something in private: why not, what became of it.

Where they clicked or wrote, so that only they see it; else in a direct message.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from slack_sdk.web.async_client import AsyncWebClient

from channels.channel import GiveUp
from channels.slack.clients import Clients
from channels.slack.connections import Connections
from channels.slack.parsing.meanings import Told
from channels.slack.wording import wording

_MOST_LETTERS: Final = 3_000
_HOOKS: Final = "https://hooks.slack.com"
_DIRECT: Final = "D"


class Teller:
    """Speaks to one person."""

    def __init__(self, clients: Clients, connections: Connections) -> None:
        self._clients = clients
        self._connections = connections

    async def tell(self, team: str, told: Told, words: str) -> None:
        """Say it; the words are ours or the gateway's, and mention nobody."""
        if told.response_url:
            body = {**in_private(words, team), "replace_original": False}
            await self._respond(told.response_url, body)
            return
        text = wording(words, team, _MOST_LETTERS)
        await _post(await self._clients.client(team), told, text)

    async def _respond(self, url: str, body: dict[str, Any]) -> None:
        """Use the address that came with a click or a command; it works without a token."""
        own = urlsplit(self._connections.api_url)
        where = urlsplit(url)
        if f"{where.scheme}://{where.netloc}" not in (_HOOKS, f"{own.scheme}://{own.netloc}"):
            raise GiveUp("a response_url that is not Slack's")
        async with self._connections.session().post(url, json=body, allow_redirects=False) as said:
            said.raise_for_status()


def in_private(words: str, team: str) -> dict[str, Any]:
    """Make the answer to a command or a click that only one person sees."""
    return {"response_type": "ephemeral", "text": wording(words, team, _MOST_LETTERS)}


async def _post(client: AsyncWebClient, told: Told, text: str) -> None:
    """Between us and one person every message is private, and stays."""
    root = told.root or None
    if not told.channel:
        await client.chat_postMessage(channel=told.user, text=text)
    elif told.channel.startswith(_DIRECT):
        await client.chat_postMessage(channel=told.channel, text=text, thread_ts=root)
    else:
        await client.chat_postEphemeral(
            channel=told.channel, user=told.user, text=text, thread_ts=root
        )
