"""Trouble on demand: errors, rate limits, silence, cut connections, retries, being away."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import bolt, heard, served
from tests.unit.channels.slack.double.test_chat import refused


def post(client: AsyncWebClient, text: str = "x", channel: str = "C1") -> Any:  # noqa: ANN401 (the SDK's)
    """Post something."""
    return client.chat_postMessage(channel=channel, text=text)


async def test_an_ordered_error_comes_as_often_as_ordered(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """And does nothing; every call is recorded with its answer."""
    slack.fail("chat.postMessage", error="channel_not_found", times=2)

    assert await refused(post(client)) == "channel_not_found"
    assert await refused(post(client)) == "channel_not_found"
    await post(client)
    assert [m.text for m in team.messages("C1")] == ["x"]
    assert [call.ok for call in slack.calls("chat.postMessage")] == [False, False, True]


async def test_a_429_says_how_long_and_the_sdk_s_handler_obeys(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """Without the handler the client raises; with it, it waits and posts."""
    slack.fail("chat.postMessage", status=429, retry_after=0)
    with pytest.raises(SlackApiError) as caught:
        await post(client)
    assert caught.value.response.headers["Retry-After"] == "0"
    assert caught.value.response["error"] == "ratelimited"

    slack.fail("chat.postMessage", status=429, retry_after=0)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    await post(client)
    assert len(team.messages("C1")) == 1


async def test_posts_over_the_rate_are_limited_in_their_channel_alone(
    client: AsyncWebClient,
) -> None:
    """One a second; by the double's own clock."""
    now = [1_700_000_000.0]
    async with SlackDouble(clock=lambda: now[0]) as slack:
        team = slack.workspace("T1")
        for channel in ("C1", "C2"):
            team.channel(channel, members=["UBOT"])
        client.base_url = slack.api_url
        slack.rate_limit(per_channel_per_second=1)

        await post(client)
        assert await refused(post(client)) == "ratelimited"
        await post(client, channel="C2")
        now[0] += 1
        await post(client)


async def test_a_cut_before_does_nothing_and_a_cut_after_has_done_it(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """The app sees the same: no answer."""
    client.retry_handlers.clear()  # the SDK's own handler would post a second time
    slack.fail("chat.postMessage", drop="before")
    slack.fail("chat.postMessage", drop="after")
    for text in ("lost", "kept"):
        with pytest.raises((aiohttp.ClientError, ConnectionError)):
            await post(client, text)

    assert [m.text for m in team.messages("C1")] == ["kept"]
    assert [call.status for call in slack.calls("chat.postMessage")] == [None, None]


async def test_a_server_error_and_a_hang_are_met(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """A client that gives up on a hanging call has had nothing done."""
    slack.fail("chat.postMessage", status=500)
    with pytest.raises(SlackApiError) as caught:
        await post(client)
    assert caught.value.response.status_code == 500

    client.timeout = 1
    slack.fail("chat.postMessage", hang=60)
    with pytest.raises((asyncio.TimeoutError, aiohttp.ClientError)):
        await post(client)
    assert team.messages("C1") == []


async def test_slack_can_be_away_and_come_back(
    slack: SlackDouble, team: Workspace, client: AsyncWebClient
) -> None:
    """By cut connections or by a status; the sockets go too."""
    app = bolt(slack)
    sockets = AsyncSocketModeHandler(
        app, "xapp-1", web_client=AsyncWebClient(base_url=slack.api_url), ping_interval=1
    )
    await sockets.connect_async()  # type: ignore[no-untyped-call]
    await slack.until(lambda: slack.sockets.is_connected)
    slack.down()
    with pytest.raises((aiohttp.ClientError, ConnectionError)):
        await post(client)
    assert not slack.sockets.is_connected
    slack.down(status=503)
    with pytest.raises(SlackApiError) as caught:
        await post(client)
    assert caught.value.response.status_code == 503
    slack.up()

    await post(client)
    await slack.until(lambda: slack.sockets.is_connected, within=30)
    await sockets.close_async()  # type: ignore[no-untyped-call]


async def test_an_event_that_is_not_taken_is_sent_again_with_the_reason(
    slack: SlackDouble, team: Workspace
) -> None:
    """Up to three times more; the same event id each time."""
    app, seen = bolt(slack), []

    @app.middleware
    async def fail_twice(body: dict[str, Any], request: Any, next: Any) -> BoltResponse | None:  # noqa: A002, ANN401 (Bolt's)
        headers = request.headers
        retry = (headers.get("x-slack-retry-num"), headers.get("x-slack-retry-reason"))
        seen.append((body["event_id"], *retry))
        if len(seen) < 3:
            return BoltResponse(status=500)
        await next()
        return None

    heard(app)
    async with served(app, slack):
        await team.says("U1", "C1", "hi")
        await slack.settled()

    assert len({event_id for event_id, *_ in seen}) == 1
    assert [tuple(retry) for _, *retry in seen] == [
        (None, None),
        (["1"], ["http_error"]),
        (["2"], ["http_error"]),
    ]
    assert slack.deliveries[0].acked


async def test_an_app_that_is_down_gets_the_event_when_it_is_back(
    slack: SlackDouble, team: Workspace
) -> None:
    """`says` doesn't wait for the retries."""
    slack.retries.delays = (0.05,) * 100
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        url = slack.request_url
    said = await team.says("U1", "C1", "hi")
    assert slack.deliveries[0].last.failure == "connection_failed"
    async with served(app, slack):
        assert slack.request_url != url
        await slack.settled()

    assert [b["event"]["ts"] for b in bodies] == [said.ts]


async def test_an_event_that_nobody_takes_is_given_up(slack: SlackDouble, team: Workspace) -> None:
    """After the last delay."""
    slack.request_url = "http://127.0.0.1:9/slack/events"
    slack.retries.delays = (0.0, 0.0, 0.0)
    await team.says("U1", "C1", "hi")
    await slack.settled()

    assert len(slack.deliveries[0].attempts) == 4
    assert not slack.deliveries[0].acked


async def test_duplicates_come_when_ordered(slack: SlackDouble, team: Workspace) -> None:
    """Slack may send again what was taken."""
    slack.retries.duplicates = 1
    app = bolt(slack)
    bodies = heard(app)
    async with served(app, slack):
        await team.says("U1", "C1", "hi")
        await slack.resend(slack.deliveries[0])

    assert len(bodies) == 3
    assert len({b["event_id"] for b in bodies}) == 1


async def test_waiting_ends_when_nothing_happens(slack: SlackDouble) -> None:
    """A condition that never holds is a TimeoutError, not a hang."""
    with pytest.raises(TimeoutError):
        await slack.until(lambda: False, within=0.05)
