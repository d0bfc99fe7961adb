"""Which channels this installation has, and what each is handed: wiring, as in `server.py`.

A channel's libraries are loaded when it is turned on: Bolt alone costs half a second at the start.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from pydantic import SecretStr

from channels.channel import Channel, Live
from channels.intake import Gatehouse, Memory
from channels.web.channel import WebChannel
from gateway.channel_settings import SlackSettings
from gateway.config import Config, Routes
from gateway.desk import ChannelDesk
from gateway.intake import ChannelIntake
from gateway.local import LocalGateway
from gateway.people import Directory
from gateway.settings import Settings
from storage.store import Store


def make_channels(
    settings: Settings,
    slack: SlackSettings,
    config: Config,
    secret: bytes,
    agents: Sequence[str] = (),
) -> dict[str, Channel]:
    """Make the channels that are configured; `web` always is."""
    made: list[Channel] = [WebChannel()]
    if slack.is_on:
        made.append(_slack(settings, slack, config, secret))
    if config.hooks:
        made.append(_webhook(config, agents))
    return {channel.name: channel for channel in made}


def live_channels(channels: Mapping[str, Channel]) -> dict[str, Live]:
    """Give those that can show an agent at work."""
    return {name: channel.live for name, channel in channels.items() if channel.live}


def routes(config: Routes, agents: Mapping[str, object]) -> dict[str, str]:
    """Tell which agent begins threads for each channel; with one agent, that one."""
    only = next(iter(agents)) if len(agents) == 1 else ""
    return {channel: agent or only for channel, agent in config}


@asynccontextmanager
async def open_channels(
    channels: Mapping[str, Channel],
    gateway: LocalGateway,
    store: Store,
    people: Directory,
    routed: Mapping[str, str],
    *,
    secret: bytes,
    receives: bool,
) -> AsyncIterator[None]:
    """Start every channel, and stop them in reverse."""
    intake = ChannelIntake(gateway, store, people, routed)
    async with AsyncExitStack() as stack:
        for name, channel in channels.items():
            if name == WebChannel.name:
                continue  # the control API is its door
            house = Gatehouse(
                intake=intake,
                desk=ChannelDesk(store, people, name),
                memory=_memory(store, name, secret),
            )
            await channel.start(house, receives=receives)
            stack.push_async_callback(channel.stop)
        yield


def _memory(store: Store, channel: str, secret: bytes) -> Memory:
    from gateway.memory import SealedMemory  # noqa: PLC0415 (see above)

    return SealedMemory(store, channel, secret)


def _slack(settings: Settings, slack: SlackSettings, config: Config, secret: bytes) -> Channel:
    from channels.slack.channel import SlackChannel  # noqa: PLC0415 (see above)
    from channels.slack.options import SlackOptions  # noqa: PLC0415 (see above)

    return SlackChannel(
        SlackOptions(
            bot_token=_text(slack.bot_token),
            signing_secret=_text(slack.signing_secret),
            app_token=_text(slack.app_token),
            client_id=slack.client_id,
            client_secret=_text(slack.client_secret),
            api_url=f"{slack.api_url}/",
            public_url=settings.url,
            require_mention=config.slack.require_mention,
            secret_key=secret,
        )
    )


def _webhook(config: Config, agents: Sequence[str]) -> Channel:
    from channels.webhook.channel import WebhookChannel  # noqa: PLC0415 (see above)
    from gateway.hooks import make_sources  # noqa: PLC0415 (see above)

    return WebhookChannel(make_sources(config.hooks, agents, os.environ))


def _text(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
