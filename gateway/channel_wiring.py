"""Which channels this installation has, and what each is handed: wiring, as in `server.py`.

A channel's libraries are loaded when it is turned on: Bolt alone costs half a second at the start.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from pydantic import SecretStr

from channels.callback.guard import Guard
from channels.channel import Channel, Live
from channels.event.channel import EventChannel
from channels.identity import SLACK_BACK, IdentityProvider, Mailer
from channels.intake import Gatehouse, Memory
from channels.occurrences import Events
from channels.web.channel import WebChannel
from gateway.control.desk import ChannelDesk
from gateway.control.local import LocalGateway
from gateway.intake.channel_intake import ChannelIntake
from gateway.people.directory import Directory
from gateway.rates.buckets import Buckets
from gateway.rates.ledger import Ledger
from gateway.settings.callback_settings import CallbackSettings
from gateway.settings.channel_settings import SlackSettings
from gateway.settings.config import Config, Routes
from gateway.settings.email_settings import EmailSettings
from gateway.settings.environment import Settings, load
from gateway.telemetry.figures import Figures
from gateway.work import failpoints
from storage.store import Store

_DAY = 24 * 3600
_HOOK_BURST_S = 10
"""A pipeline of many jobs ends all at once: so many seconds' worth may come at a time."""


def make_channels(
    settings: Settings,
    slack: SlackSettings,
    email: EmailSettings,
    config: Config,
    secret: bytes,
    *,
    agents: Sequence[str] = (),
    ledger: Ledger | None = None,
) -> dict[str, Channel]:
    """Make the channels that are configured; `web`, `event` and `callback` always are."""
    events = EventChannel(keep_seconds=config.events.keep_days * _DAY)
    made: list[Channel] = [WebChannel(), events]
    if slack.is_on:
        made.append(_slack(settings, slack, config, secret))
    if email.is_on:
        made.append(_email(settings, email, config, secret))
    callbacks = load(CallbackSettings)
    made.append(_callback(settings, callbacks, secret))
    if config.hooks:
        guard = Guard(callbacks.allowed)
        made.append(_webhook(config, agents, events, guard, ledger or Ledger()))
    return {channel.name: channel for channel in made}


def live_channels(channels: Mapping[str, Channel]) -> dict[str, Live]:
    """Give those that can show an agent at work."""
    return {name: channel.live for name, channel in channels.items() if channel.live}


def events_of(channels: Mapping[str, Channel]) -> Events:
    """Give the channel that events come to."""
    channel = channels[EventChannel.name]
    assert isinstance(channel, EventChannel), "it has its name to itself"  # noqa: S101 (ours)
    return channel


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
    figures: Figures | None = None,
) -> AsyncIterator[None]:
    """Start every channel, and stop them in reverse."""
    intake = ChannelIntake(gateway, store, people, routed, channels=channels, figures=figures)
    async with AsyncExitStack() as stack:
        for name, channel in channels.items():
            if name == WebChannel.name:
                continue  # the control API is its door
            house = Gatehouse(
                intake=intake,
                desk=ChannelDesk(store, people, name),
                memory=memory_of(store, name, secret),
            )
            await channel.start(house, receives=receives)
            stack.push_async_callback(channel.stop)
        yield


def memory_of(store: Store, channel: str, secret: bytes) -> Memory:
    """Give what a channel remembers with."""
    from gateway.control.memory import SealedMemory  # noqa: PLC0415 (see above)

    return SealedMemory(store, channel, secret)


def mailer_of(channels: Mapping[str, object]) -> Mailer | None:
    """Give who mails links to people who sign in, where there is one."""
    channel = channels.get("email")
    return channel if isinstance(channel, Mailer) else None


def openid_of(settings: Settings, slack: SlackSettings) -> IdentityProvider | None:
    """Give who knows people that sign in with Slack, where the app has what it takes."""
    if not slack.client_id:
        return None
    from channels.slack.openid import SlackOpenId  # noqa: PLC0415 (see above)

    return SlackOpenId(
        client_id=slack.client_id,
        client_secret=_text(slack.client_secret),
        redirect_uri=f"{settings.url}{SLACK_BACK}",
        api_url=slack.api_url,
    )


def _slack(settings: Settings, slack: SlackSettings, config: Config, secret: bytes) -> Channel:
    from channels.slack.channel import SlackChannel  # noqa: PLC0415 (see above)
    from channels.slack.options import SlackOptions  # noqa: PLC0415 (see above)

    return SlackChannel(
        SlackOptions(
            bot_token=_text(slack.bot_token),
            signing_secret=_text(slack.signing_secret),
            app_token=_text(slack.app_token),
            client_id=slack.client_id if slack.is_for_many else "",
            client_secret=_text(slack.client_secret) if slack.is_for_many else "",
            api_url=f"{slack.api_url}/",
            public_url=settings.url,
            require_mention=config.slack.require_mention,
            secret_key=secret,
        )
    )


def _email(settings: Settings, email: EmailSettings, config: Config, secret: bytes) -> Channel:
    from channels.email.channel import EmailChannel  # noqa: PLC0415 (see above)
    from gateway.settings.email_options import email_options  # noqa: PLC0415 (see above)

    options = email_options(settings, email, config, secret)
    return EmailChannel(options, lease_seconds=failpoints.mailbox_lease_seconds())


def _callback(settings: Settings, callbacks: CallbackSettings, secret: bytes) -> Channel:
    from channels.callback.channel import CallbackChannel  # noqa: PLC0415 (see above)
    from channels.callback.options import CallbackOptions  # noqa: PLC0415 (see above)

    return CallbackChannel(
        CallbackOptions(
            secret_key=secret,
            public_url=settings.url,
            keys=callbacks.keys,
            guard=Guard(callbacks.allowed),
        )
    )


def _webhook(
    config: Config, agents: Sequence[str], events: Events, guard: Guard, ledger: Ledger
) -> Channel:
    from channels.webhook.channel import WebhookChannel  # noqa: PLC0415 (see above)
    from gateway.settings.hooks import make_sources  # noqa: PLC0415 (see above)

    sources = make_sources(config.hooks, agents, os.environ, guard)
    limits = {
        name: Buckets(ledger, "hook", rate=rate, burst=rate * _HOOK_BURST_S)
        for name, hook in config.hooks.items()
        if (rate := hook.per_second)
    }
    return WebhookChannel(sources, events=events, limits=limits)


def _text(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
