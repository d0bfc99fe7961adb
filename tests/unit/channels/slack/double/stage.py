"""A small Bolt app on a real port, and the double it talks to: what the tests here stand on."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace

SECRET = "shhh"


def furnish(slack: SlackDouble) -> Workspace:
    """Add a workspace with two people, a bot, and a few channels."""
    team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
    team.user("U1", name="ann", email="ann@example.com")
    team.user("U2", name="bob")
    team.channel("C1", name="general", members=["U1", "U2", "UBOT"])
    team.channel("C2", name="random", members=["U1"])
    team.channel("G1", name="secret", members=["U1"], is_private=True)
    team.channel("C9", name="old", members=["U1", "UBOT"], archived=True)
    return team


def bolt(slack: SlackDouble) -> AsyncApp:
    """Make an app that knows its token and where Slack is."""
    client = AsyncWebClient(token="xoxb-1", base_url=slack.api_url)
    return AsyncApp(token="xoxb-1", signing_secret=SECRET, client=client)


@asynccontextmanager
async def served(app: AsyncApp, slack: SlackDouble) -> AsyncIterator[None]:
    """Serve an app over HTTP, and tell the double where."""
    runner = web.AppRunner(app.web_app(path="/slack/events"), shutdown_timeout=0.1)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    slack.request_url = f"http://127.0.0.1:{listening.getsockname()[1]}/slack/events"
    try:
        yield
    finally:
        await runner.cleanup()


def heard(app: AsyncApp) -> list[dict[str, Any]]:
    """Keep every event that the app hears, and answer 200 to each."""
    bodies: list[dict[str, Any]] = []

    @app.middleware
    async def keep(body: dict[str, Any], next: Any) -> None:  # noqa: A002, ANN401 (Bolt's names)
        bodies.append(body)
        await next()

    async def nothing() -> None:
        """Take whatever comes, as a catch-all must."""

    app.event("message")(nothing)
    app.event("app_mention")(nothing)
    app.event("app_home_opened")(nothing)
    app.event("member_joined_channel")(nothing)
    app.event("agent_session_stopped")(nothing)
    app.event("app_uninstalled")(nothing)
    app.event("tokens_revoked")(nothing)
    return bodies
