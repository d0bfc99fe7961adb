"""Who we are in the one workspace: asked once, also when many want to know and Slack is silent."""

from __future__ import annotations

import asyncio

from channels.channel import TryLater
from channels.slack.clients import BotIdentity, SingleWorkspace
from channels.slack.connections import Connections
from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.premises import BOT_TOKEN


async def test_those_who_wait_for_the_same_answer_share_it(
    slack: SlackDouble, team: Workspace
) -> None:
    """One after the other they would wait ten seconds each while Slack says nothing."""
    slack.fail("auth.test", status=503, times=100)
    connections = Connections(slack.api_url)
    workspace = SingleWorkspace(BOT_TOKEN, connections)
    failed = await asyncio.gather(
        *(workspace.bot(team.id) for _ in range(20)), return_exceptions=True
    )
    asked = len(slack.calls("auth.test"))
    slack.heal()
    known = await asyncio.gather(*(workspace.bot(team.id) for _ in range(20)))
    await connections.close()

    assert {type(one) for one in failed} == {TryLater}
    assert (asked, len(slack.calls("auth.test"))) == (1, 2)
    assert set(known) == {BotIdentity(user_id="UBOT", bot_id="BBOT")}


async def test_one_who_gives_up_waiting_takes_the_answer_from_nobody(
    slack: SlackDouble, team: Workspace
) -> None:
    """A request is cut off: the others have asked the same."""
    connections = Connections(slack.api_url)
    workspace = SingleWorkspace(BOT_TOKEN, connections)
    first, second = (asyncio.create_task(workspace.bot(team.id)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    bot = await second
    await connections.close()

    assert (first.cancelled(), bot.user_id) == (True, "UBOT")
