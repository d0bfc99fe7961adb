"""Socket Mode, with Bolt's own handler on the other end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, heard
from tests.unit.channels.slack.double.test_chat import refused
from tests.unit.channels.slack.double.test_clicks import CARD


@asynccontextmanager
async def connected(app: AsyncApp, slack: SlackDouble) -> AsyncIterator[AsyncSocketModeHandler]:
    """Let an app connect, and wait until it has."""
    client = AsyncWebClient(base_url=slack.api_url)
    handler = AsyncSocketModeHandler(app, "xapp-1", web_client=client, ping_interval=1)
    before = slack.sockets.count
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await slack.until(lambda: slack.sockets.count > before)
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


async def test_events_come_through_the_socket_and_are_acked(
    slack: SlackDouble, team: Workspace
) -> None:
    """No request URL is needed."""
    app = bolt(slack)
    bodies = heard(app)
    async with connected(app, slack):
        said = await team.says("U1", "C1", "<@UBOT> hi")

    assert [b["event"]["ts"] for b in bodies] == [said.ts, said.ts]
    assert [d.last.over for d in slack.deliveries] == ["socket", "socket"]
    assert all(d.acked for d in slack.deliveries)


async def test_a_click_and_a_command_are_answered_through_the_socket(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The ack carries the answer."""
    app, seen = bolt(slack), []

    @app.action("approve")
    async def clicked(ack: AsyncAck, body: dict[str, Any]) -> None:
        seen.append(body["user"]["id"])
        await ack()

    @app.command("/parley")
    async def status(ack: AsyncAck) -> None:
        await ack("all well")

    async with connected(app, slack):
        ts = (await client.chat_postMessage(channel="C1", text="?", blocks=CARD))["ts"]
        await team.clicks("U1", ts, "approve")
        await team.command("U1", "C1", "/parley", "status")

    assert seen == ["U1"]
    assert [m.text for m in team.ephemerals("C1", "U1")] == ["all well"]


async def test_an_event_that_is_not_acked_comes_again(slack: SlackDouble, team: Workspace) -> None:
    """Bolt acks nothing that it has no listener for; the retry says how often and why."""
    slack.retries.timeout, slack.retries.delays = 0.1, (0.01, 0.01)
    app, retries = bolt(slack), []

    @app.middleware
    async def keep(headers: Any, next: Any, request: Any) -> None:  # noqa: A002, ANN401 (Bolt's)
        retries.append(request.headers.get("x-slack-retry-num", ["0"])[0])
        await next()

    async with connected(app, slack):
        await team.says("U1", "C1", "hi")
        await slack.settled()

    assert retries == ["0", "1", "2"]
    assert [a.failure for a in slack.deliveries[0].attempts] == ["http_timeout"] * 3


async def test_an_app_that_is_asked_to_refresh_connects_anew(
    slack: SlackDouble, team: Workspace
) -> None:
    """Slack does that every few hours."""
    app = bolt(slack)
    bodies = heard(app)
    async with connected(app, slack):
        await slack.sockets.refresh()
        await slack.until(lambda: slack.sockets.is_connected)
        await team.says("U1", "C1", "hi")
        await slack.settled()

    assert len(slack.calls("apps.connections.open")) == 2
    assert [b["event"]["text"] for b in bodies] == ["hi"]


async def test_an_event_in_a_torn_socket_is_sent_through_the_next(
    slack: SlackDouble, team: Workspace
) -> None:
    """What wasn't acked when the socket broke is not lost."""
    slack.retries.delays = (0.05,) * 100
    ticket = await AsyncWebClient(token="xapp-1", base_url=slack.api_url).apps_connections_open(
        app_token="xapp-1"
    )
    async with aiohttp.ClientSession() as http:
        socket = await http.ws_connect(ticket["url"])
        assert (await socket.receive_json())["type"] == "hello"
        saying = asyncio.create_task(team.says("U1", "C1", "hi"))
        envelope = await socket.receive_json()
        slack.sockets.cut()
        await saying
    app = bolt(slack)
    bodies = heard(app)
    async with connected(app, slack):
        await slack.settled()

    assert envelope["type"] == "events_api"
    assert envelope["payload"]["event"]["text"] == "hi"
    assert [b["event_id"] for b in bodies] == [envelope["payload"]["event_id"]]


async def test_the_door_needs_the_app_s_token_and_opens_once(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """A bot's token is of the wrong type; a used URL is refused."""
    assert await refused(client.apps_connections_open(app_token="xoxb-1")) == "missing_scope"
    url = (await client.apps_connections_open(app_token="xapp-1"))["url"]
    async with aiohttp.ClientSession() as http:
        socket = await http.ws_connect(url)
        await socket.close()
        assert (await http.get(url.replace("ws://", "http://"))).status == 403
