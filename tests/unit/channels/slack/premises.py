"""The channel on real sockets, between the Slack double and a gatehouse that writes things down."""

from __future__ import annotations

import hashlib
import hmac
import io
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

import aiohttp
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from channels.outgoing import Choice, QuestionCard
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import Message, SlackDouble, Workspace
from channels.slack.options import SlackOptions
from channels.slack.render.cards import open_card
from channels.web_routes import WebHandler, WebRequest

SIGNING_SECRET = "shhh"
SECRET_KEY = b"the key that signs buttons"
APP_TOKEN = "xapp-1"
BOT_TOKEN = "xoxb-1"

Way = Literal["http", "socket"]


def furnish(slack: SlackDouble) -> Workspace:
    """Add a workspace with two people and a channel, and a channel shared with somebody else."""
    team = slack.workspace("T1", name="Acme", bot_token=BOT_TOKEN)
    team.user("U1", name="ann", real_name="Ann Archer", email="ann@example.com")
    team.user("U2", name="bob")
    team.user("U9", name="eve", team_id="T9", email="eve@elsewhere.example")
    team.channel("C1", name="general", members=["U1", "U2", "UBOT"])
    team.channel("C3", name="shared", members=["U1", "U9", "UBOT"], is_ext_shared=True)
    return team


@asynccontextmanager
async def on_duty(
    slack: SlackDouble, recording: Recording, way: Way = "http", *, require_mention: bool = False
) -> AsyncIterator[SlackChannel]:
    """Run the channel, reached in the way that is asked for."""
    options = SlackOptions(
        secret_key=SECRET_KEY,
        signing_secret=SIGNING_SECRET if way == "http" else "",
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN if way == "socket" else "",
        api_url=slack.api_url,
        require_mention=require_mention,
    )
    channel = SlackChannel(options)
    async with served(channel.routes()) as url:
        slack.request_url = f"{url}/slack/events" if way == "http" else None
        await channel.start(recording.house())
        if way == "socket":
            await slack.until(lambda: slack.sockets.is_connected)
        try:
            yield channel
        finally:
            await channel.stop()


@asynccontextmanager
async def served(routes: Mapping[tuple[str, str], WebHandler]) -> AsyncIterator[str]:
    """Serve a channel's routes as the gateway does, and give the address."""
    app = web.Application(client_max_size=20_000_000)
    for (method, path), handler in routes.items():
        app.router.add_route(method, path, _served(handler))
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        await runner.cleanup()


def _served(handler: WebHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202 (aiohttp's own)
    async def serve(request: web.Request) -> web.Response:
        answer = await handler(
            WebRequest(
                method=request.method,
                path=request.path,
                query=request.query_string,
                headers={name.lower(): value for name, value in request.headers.items()},
                body=await request.read(),
            )
        )
        return web.Response(status=answer.status, body=answer.body, headers=answer.headers)

    return serve


def signed(body: bytes, *, at: str = "", secret: str = SIGNING_SECRET) -> dict[str, str]:
    """Sign a body as Slack does."""
    at = at or str(int(time.time()))
    base = b"v0:" + at.encode() + b":" + body
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": at, "X-Slack-Signature": f"v0={digest}"}


async def post(slack: SlackDouble, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
    """Post something to where Slack posts, and give what comes back."""
    assert slack.request_url is not None
    heads = {"Content-Type": "application/json", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.post(slack.request_url, data=io.BytesIO(body), headers=heads) as answer,
    ):
        return answer.status, await answer.text()


async def show(
    slack: SlackDouble, card: QuestionCard, *, channel: str = "C1", thread_ts: str | None = None
) -> Message:
    """Post a question as the sender does, and give the message."""
    client = AsyncWebClient(token=BOT_TOKEN, base_url=slack.api_url)
    blocks = open_card(card, team="T1", secret=SECRET_KEY)
    sent = await client.chat_postMessage(
        channel=channel, text=card.prompt, blocks=blocks, thread_ts=thread_ts
    )
    await slack.settled()  # the app hears of its own message
    return slack.workspaces["T1"].message(channel, sent["ts"])


def approval(question: str = "q_1", **changes: object) -> QuestionCard:
    """Make a question for approval."""
    fields: dict[str, object] = {
        "id": question,
        "thread": "th_1",
        "kind": "approval",
        "prompt": "Refund order A-123?",
        "tool": "refund",
        "arguments": {"order": "A-123", "amount": 49.9},
    }
    return QuestionCard(**{**fields, **changes})  # type: ignore[arg-type]  # a test's fields


def choice(question: str = "q_2") -> QuestionCard:
    """Make a question that offers colours."""
    options = (Choice(name="red"), Choice(name="blue", description="like the sky"))
    return QuestionCard(
        id=question, thread="th_1", kind="choice", prompt="Which colour?", options=options
    )
