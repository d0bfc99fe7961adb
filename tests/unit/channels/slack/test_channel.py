"""The channel as a whole: its health, its routes, and workspaces that come and go."""

from __future__ import annotations

import asyncio

import pytest
from slack_sdk.oauth.installation_store import Installation

from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from channels.slack.installations import Installations
from channels.slack.manifest import BOT_SCOPES
from channels.slack.options import SlackOptions
from tests.unit.channels.slack.premises import (
    BOT_TOKEN,
    SECRET_KEY,
    SIGNING_SECRET,
    on_duty,
    served,
)


def channel_for(slack: SlackDouble) -> SlackChannel:
    """Make a channel over HTTP."""
    return SlackChannel(
        SlackOptions(
            secret_key=SECRET_KEY,
            signing_secret=SIGNING_SECRET,
            bot_token=BOT_TOKEN,
            api_url=slack.api_url.rstrip("/"),
        )
    )


async def test_all_is_well_with_every_scope(slack: SlackDouble) -> None:
    """Exactly the scopes that we name are enough."""
    slack.workspace("T1", bot_token=BOT_TOKEN, scopes=BOT_SCOPES)
    channel = channel_for(slack)

    assert await channel.health() == ""
    await channel.stop()


async def test_a_missing_scope_is_named(slack: SlackDouble) -> None:
    """And where to add it."""
    slack.workspace("T1", bot_token=BOT_TOKEN, scopes=set(BOT_SCOPES) - {"files:read"})
    channel = channel_for(slack)
    found = await channel.health()

    assert "lacks the scopes files:read:" in found
    assert "OAuth & Permissions" in found
    await channel.stop()


@pytest.mark.parametrize(
    ("error", "words"), [("token_revoked", "token_revoked"), ("", "can't be reached")]
)
async def test_a_token_that_does_not_work_is_named(
    slack: SlackDouble, team: Workspace, error: str, words: str
) -> None:
    """By Slack's own name for it, or because nobody answers."""
    slack.fail("auth.test", error=error or None, drop=None if error else "before")
    channel = channel_for(slack)

    assert words in await channel.health()
    await channel.stop()


async def test_without_a_signing_secret_nothing_is_served(slack: SlackDouble) -> None:
    """We could not tell whose requests they are."""
    options = SlackOptions(secret_key=SECRET_KEY, bot_token=BOT_TOKEN, api_url=slack.api_url)

    assert SlackChannel(options).routes() == {}


async def test_a_process_that_only_sends_takes_nothing(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """A worker's channel answers like one that is not there yet."""
    channel = channel_for(slack)
    await channel.start(recording.house(), receives=False)
    async with served(channel.routes()) as url:
        slack.request_url = f"{url}/slack/events"
        slack.retries.delays = ()
        await team.says("U1", team.dm("U1").id, "hello")
    await channel.stop()

    assert slack.deliveries[-1].last.status == 503
    assert not recording.intake.tried


async def test_secrets_are_not_shown_with_the_options(slack: SlackDouble) -> None:
    """A log line must not hold them."""
    options = SlackOptions(
        secret_key=b"k1", signing_secret="k2", bot_token="k3", app_token="k4", client_secret="k5"
    )

    assert not any(f"k{number}" in repr(options) for number in range(1, 6))


async def test_workspace_that_uninstalls_is_forgotten_before_it_is_acknowledged(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """Though nobody can be asked any more who we were there."""
    installations = Installations(recording.memory)
    await installations.async_save(
        Installation(team_id="T1", user_id="U1", bot_token=BOT_TOKEN, bot_user_id="UBOT")
    )
    options = SlackOptions(
        secret_key=SECRET_KEY,
        signing_secret=SIGNING_SECRET,
        client_id="111.222",
        client_secret="client-secret",
        public_url="https://parley.example.com",
        api_url=slack.api_url,
    )
    channel = SlackChannel(options)
    await channel.start(recording.house())
    async with served(channel.routes()) as url:
        slack.request_url = f"{url}/slack/events"
        await team.says("U1", "C1", "<@UBOT> hello")
        await team.uninstalls()
        await slack.settled()
    await channel.stop()

    assert len(recording.intake.taken) == 1
    assert await installations.owners() == []
    assert all(delivery.acked for delivery in slack.deliveries)


async def test_when_slack_can_not_say_who_we_are_nothing_is_lost(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """The first event after a start needs `auth.test`: while it fails, Slack is told to wait."""
    slack.fail("auth.test", status=503, times=2)
    async with on_duty(slack, recording):
        await team.says("U1", team.dm("U1").id, "hello")
        await slack.settled()

    assert len(recording.intake.taken) == 1
    assert [one.status for one in slack.deliveries[-1].attempts] == [503, 503, 200]


async def test_fifty_mentions_at_once_are_each_acknowledged_in_time(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """A busy morning: Slack waits three seconds, though here it runs in the same process."""
    slack.world.echoes = False
    async with on_duty(slack, recording):
        await asyncio.gather(
            *(team.says("U1", "C1", f"<@UBOT> {n}", first="together") for n in range(50))
        )
        await slack.settled()

    assert len(recording.intake.taken) == 50
    assert max(delivery.last.took for delivery in slack.deliveries) < 3.0
    assert all(len(delivery.attempts) == 1 for delivery in slack.deliveries)
