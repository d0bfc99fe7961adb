"""Every channel with somebody to talk to: what the contract's suite runs over.

A new channel adds one function here, and its name to `CHANNELS`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from channels.channel import Channel
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble
from channels.slack.options import SlackOptions
from channels.web.channel import WebChannel
from channels.webhook.channel import WebhookChannel
from channels.webhook.declaration import Declaration, make_source


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


CHANNELS: dict[str, Callable[[], AbstractAsyncContextManager[AtWork]]] = {
    "web": web,
    "slack": slack,
    "webhook": webhook,
}
