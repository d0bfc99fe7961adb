"""A porch: a real `parley serve` with all ways to sign in, Slack (the double) and a post office."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from channels.email.double.post_office import PostOffice
from channels.slack.double import SlackDouble
from tests.scenario.gateway.killable_server import KillableServer, killable_server

PARLEY_TOML = """
[[people]]
name = "otto"
slack = "T1:UOTTO"
email = "otto@example.com"
roles = ["approver"]

[[people]]
name = "ann"
email = "ann@example.com"
"""
_LINK = re.compile(r"https?://\S+/signin/link/[\w-]+")


@dataclass
class Porch:
    """What a visitor stands before."""

    server: KillableServer
    slack: SlackDouble
    office: PostOffice

    @property
    def url(self) -> str:
        """Where the inbox is."""
        return self.server.url

    @property
    def key(self) -> str:
        """A key that may everything."""
        return self.server.key

    async def mailed_link(self, email: str, number: int = 1) -> str:
        """Wait for somebody's mail of that number, and give the link in it."""
        letter = await self.office.letter(email, number)
        [link] = _LINK.findall(letter.text)
        return str(link)


@asynccontextmanager
async def porch(folder: Path) -> AsyncIterator[Porch]:
    """Open everything, in a folder that is not there yet."""
    office = PostOffice()
    async with SlackDouble(signing_secret="shhh") as slack:
        team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
        for user in ("UOTTO", "UEVE"):
            team.user(user, name=user[1:].lower())
        await office.start()
        settings = {
            "PARLEY_CONFIG": "parley.toml",
            "EMAIL_ADDRESS": office.agent,
            "SMTP_URL": office.smtp_url,
            "SLACK_CLIENT_ID": slack.world.credentials.client_id,
            "SLACK_CLIENT_SECRET": slack.world.credentials.client_secret,
            "SLACK_SIGNING_SECRET": "shhh",
            "SLACK_API_URL": f"{slack.world.url}/api",
        }
        try:
            async with killable_server(folder, settings=settings) as server:
                (folder / "parley.toml").write_text(PARLEY_TOML)
                await server.start(lease_ms=0)
                await server.ready()
                yield Porch(server, slack, office)
        finally:
            await office.stop()
