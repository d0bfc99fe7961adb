"""Every channel with somebody to talk to: what the contract's suite runs over.

A new channel adds one function here, and its name to `CHANNELS`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from aiohttp import web as http

from channels.callback.allowing import AllowList, parse_allowance
from channels.callback.channel import CallbackChannel
from channels.callback.guard import Guard
from channels.callback.options import CallbackOptions
from channels.channel import Channel
from channels.email.channel import EmailChannel
from channels.email.options import EmailOptions
from channels.event.channel import EventChannel
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble
from channels.slack.options import SlackOptions
from channels.web.channel import WebChannel
from channels.webhook.channel import WebhookChannel
from channels.webhook.declaration import Declaration, make_source
from tests.doubles.post_office import AGENT, post_office


@dataclass(frozen=True, kw_only=True)
class AtWork:
    """A channel that was started, and addresses in it."""

    channel: Channel
    recording: Recording
    address: str
    """Somebody who can be reached."""
    nobody: tuple[str, ...]
    """Addresses that will never work."""


@asynccontextmanager
async def web() -> AsyncIterator[AtWork]:
    """The control API's own conversations."""
    at_work = AtWork(
        channel=WebChannel(), recording=Recording(), address="web:th_1", nobody=("web:",)
    )
    await at_work.channel.start(at_work.recording.house())
    yield at_work
    await at_work.channel.stop()


@asynccontextmanager
async def event() -> AsyncIterator[AtWork]:
    """What threads wait for."""
    at_work = AtWork(
        channel=EventChannel(),
        recording=Recording(),
        address="event:deploy:7",
        nobody=("event:", "event", "email:a@b"),
    )
    await at_work.channel.start(at_work.recording.house())
    yield at_work
    await at_work.channel.stop()


@asynccontextmanager
async def slack() -> AsyncIterator[AtWork]:
    """Slack, on its double."""
    async with SlackDouble() as double:
        team = double.workspace("T1", bot_token="xoxb-1")
        team.user("U1", name="ann")
        team.channel("C1", members=["U1", "UBOT"])
        said = await team.says("U1", "C1", "<@UBOT> hello")
        options = SlackOptions(
            secret_key=b"key",
            signing_secret="signing-secret",
            bot_token="xoxb-1",
            api_url=double.api_url,
        )
        at_work = AtWork(
            channel=SlackChannel(options),
            recording=Recording(),
            address=f"slack:T1:C1:{said.ts}",
            nobody=("slack:", "slack:T1:C404:1700000000.000100", "slack:T7:C1:1.1", "email:a@b"),
        )
        await at_work.channel.start(at_work.recording.house())
        yield at_work
        await at_work.channel.stop()


@asynccontextmanager
async def email() -> AsyncIterator[AtWork]:
    """Mail, at a post office of our own."""
    async with post_office() as office:
        office.refuses["gone@example.com"] = "550 5.1.1 no such user"
        options = EmailOptions(
            address=AGENT,
            smtp_url=office.smtp_url,
            listen="lmtp://127.0.0.1:0",
            inbound_secret="0123456789abcdef",
            public_url="https://parley.example.com",
            secret_key=b"key",
        )
        at_work = AtWork(
            channel=EmailChannel(options),
            recording=Recording(),
            address="email:ann@example.com",
            nobody=("email:", "email:nobody", "email:gone@example.com", "slack:T1:C1:1.1"),
        )
        await at_work.channel.start(at_work.recording.house())
        yield at_work
        await at_work.channel.stop()


@asynccontextmanager
async def webhook() -> AsyncIterator[AtWork]:
    """A hook, whose sender hears nothing but the answers to its requests."""
    declared = Declaration(name="ci", secrets=(b"s",), scheme="github", message="m", agent="a")
    at_work = AtWork(
        channel=WebhookChannel([make_source(declared)]),
        recording=Recording(),
        address="webhook:ci:acme/shop:7",
        nobody=("webhook:", "webhook:ci", "webhook:ci:", "email:a@b"),
    )
    await at_work.channel.start(at_work.recording.house())
    yield at_work
    await at_work.channel.stop()


@asynccontextmanager
async def callback() -> AsyncIterator[AtWork]:
    """A program that takes everything, on an address that the operator has allowed."""

    async def take(request: http.Request) -> http.Response:
        await request.read()
        return http.Response(status=204)

    app = http.Application()
    app.router.add_post("/taken", take)
    runner = http.AppRunner(app)
    await runner.setup()
    await http.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    guard = Guard(AllowList([parse_allowance(f"127.0.0.1:{port}")]))
    at_work = AtWork(
        channel=CallbackChannel(CallbackOptions(secret_key=b"key", guard=guard)),
        recording=Recording(),
        address=f"callback:http://127.0.0.1:{port}/taken",
        nobody=("callback:", "callback:ftp://a.example/", "callback:http://10.0.0.1/", "email:a@b"),
    )
    await at_work.channel.start(at_work.recording.house())
    yield at_work
    await at_work.channel.stop()
    await runner.cleanup()


CHANNELS: dict[str, Callable[[], AbstractAsyncContextManager[AtWork]]] = {
    "web": web,
    "event": event,
    "slack": slack,
    "email": email,
    "webhook": webhook,
    "callback": callback,
}
