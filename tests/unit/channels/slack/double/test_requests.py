"""What an app must check: signature, time and challenge; and what an organisation adds."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncAck

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, heard, served


async def test_the_request_url_is_verified_by_a_challenge(
    slack: SlackDouble, team: Workspace
) -> None:
    """Bolt answers it by itself; nobody else does."""
    async with served(bolt(slack), slack):
        assert await slack.verifies_url()
    slack.retries.delays = ()
    assert not await slack.verifies_url()


async def test_a_body_of_one_s_own_can_be_signed_at_any_time(
    slack: SlackDouble, team: Workspace
) -> None:
    """Good now, and refused by Bolt when it is old or of another body."""
    app = bolt(slack)
    heard(app)
    body = b'{"type":"event_callback","team_id":"T1","event":{"type":"message","channel":"C1"}}'
    async with served(app, slack), aiohttp.ClientSession() as http:
        assert slack.request_url is not None

        async def status(headers: dict[str, str]) -> int:
            headers = {**headers, "Content-Type": "application/json"}
            return (await http.post(slack.request_url or "", data=body, headers=headers)).status

        assert await status(slack.signed(body)) == 200
        assert await status(slack.signed(b"other")) == 401
        assert await status(slack.signed(body, timestamp="1700000000")) == 401


async def test_in_an_organisation_interactions_name_it(slack: SlackDouble) -> None:
    """The enterprise stands beside the team, in clicks and in commands."""
    team = slack.workspace("T1", enterprise_id="E1")
    team.user("U1")
    team.channel("C1", members=["U1", "UBOT"])
    app, seen = bolt(slack), []

    @app.command("/parley")
    async def status(ack: AsyncAck, command: dict[str, Any]) -> None:
        seen.append(command["enterprise_id"])
        await ack()

    @app.global_shortcut("new")
    async def begun(ack: AsyncAck, shortcut: dict[str, Any]) -> None:
        seen.append(shortcut["enterprise"]["id"])
        await ack()

    async with served(app, slack):
        await team.command("U1", "C1", "/parley")
        await team.shortcut("U1", None, "new")

    assert seen == ["E1", "E1"]


async def test_who_and_what_is_not_there_is_the_test_s_own_mistake(
    slack: SlackDouble, team: Workspace
) -> None:
    """A LookupError, before anything is sent."""
    for attempt in (
        team.says("U404", "C1", "x"),
        team.says("U1", "C404", "x"),
        team.says("U2", "C2", "x"),
        team.clicks("U1", "1.2", "x"),
        team.submits("U1"),
    ):
        with pytest.raises(LookupError):
            await attempt
    assert slack.deliveries == []


async def test_two_doubles_give_out_different_ids(slack: SlackDouble, team: Workspace) -> None:
    """An app that outlives one must not take the other's events for known."""
    slack.request_url = "http://127.0.0.1:9/"
    await team.says("U1", "C1", "x")
    async with SlackDouble() as other:
        other.request_url = "http://127.0.0.1:9/"
        twin = other.workspace("T1")
        twin.user("U1")
        twin.channel("C1", members=["U1", "UBOT"])
        await twin.says("U1", "C1", "x")
        assert other.deliveries[0].payload["event_id"] != slack.deliveries[0].payload["event_id"]
