"""Socket Mode: the line is kept open, whatever becomes of it, and nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from channels.slack.options import SlackOptions
from tests.unit.channels.slack.premises import APP_TOKEN, BOT_TOKEN, SECRET_KEY


@asynccontextmanager
async def listening(slack: SlackDouble, recording: Recording) -> AsyncIterator[SlackChannel]:
    """Run the channel over a line that is looked after often."""
    slack.request_url = None
    options = SlackOptions(
        secret_key=SECRET_KEY,
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        api_url=slack.api_url,
        ping_seconds=0.05,
    )
    channel = SlackChannel(options)
    await channel.start(recording.house())
    try:
        yield channel
    finally:
        await channel.stop()


async def test_a_slack_that_is_down_at_the_start_holds_up_nothing(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """The line is opened when Slack is there again."""
    slack.down()
    async with listening(slack, recording) as channel:
        assert "not connected" in await channel.health()
        slack.up()
        await slack.until(lambda: slack.sockets.is_connected)
        await team.says("U1", team.dm("U1").id, "hello")

        assert len(recording.intake.taken) == 1


async def test_a_torn_line_is_opened_anew_and_what_was_under_way_comes_again(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """Taken, but not acknowledged: a copy, with no second effect."""
    may_go_on = asyncio.Event()
    slack.retries.delays = (0.3, 0.3, 0.3)
    async with listening(slack, recording):
        await slack.until(lambda: slack.sockets.is_connected)
        recording.intake.hold = may_go_on.wait
        saying = asyncio.create_task(team.says("U1", team.dm("U1").id, "hello"))
        await recording.intake.until(1)
        slack.sockets.cut()
        await saying
        may_go_on.set()
        await slack.until(lambda: slack.sockets.is_connected)
        await slack.settled()

    assert slack.deliveries[-1].acked
    assert len(recording.intake.taken) == 1
    assert len(recording.intake.tried) == 2


async def test_slack_may_ask_for_a_new_line_at_any_time(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """It does so every few hours."""
    async with listening(slack, recording):
        await slack.until(lambda: slack.sockets.is_connected)
        await slack.sockets.refresh()
        await slack.until(lambda: slack.sockets.is_connected)
        await team.says("U1", team.dm("U1").id, "hello")

    assert len(recording.intake.taken) == 1


class Forgetful(dict[str, str]):
    """Tickets that are worth nothing, the first few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def __setitem__(self, ticket: str, app_id: str) -> None:
        """Forget it at once."""
        if self.times > 0:
            self.times -= 1
            return
        super().__setitem__(ticket, app_id)


async def test_an_address_that_has_gone_stale_is_not_tried_for_ever(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """The SDK would: it asks for a new one only after a line was open."""
    slack.sockets._tickets = Forgetful(times=1)
    async with listening(slack, recording):
        await slack.until(lambda: slack.sockets.is_connected)
        await team.says("U1", team.dm("U1").id, "hello")

    assert len(recording.intake.taken) == 1
    assert len(slack.calls("apps.connections.open")) == 2


async def test_nothing_is_left_behind_when_it_stops(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """No task, no line; and it can be started again."""
    before = asyncio.all_tasks()
    for _ in range(2):
        async with listening(slack, recording):
            await slack.until(lambda: slack.sockets.is_connected)
            await team.says("U1", team.dm("U1").id, "hello")
        await slack.until(lambda: not slack.sockets.is_connected)
        await slack.settled()

    left = {task.get_coro().__qualname__ for task in asyncio.all_tasks() - before}  # type: ignore[union-attr]
    assert not {name for name in left if "Socket" in name or "run_message" in name}
    assert len(recording.intake.taken) == 2


async def test_what_is_being_taken_when_it_stops_is_still_acknowledged(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """A deploy costs nobody a retry."""
    may_go_on = asyncio.Event()
    recording.intake.hold = may_go_on.wait
    async with listening(slack, recording) as channel:
        await slack.until(lambda: slack.sockets.is_connected)
        saying = asyncio.create_task(team.says("U1", team.dm("U1").id, "hello"))
        await recording.intake.until(1)
        stopping = asyncio.create_task(channel.stop())
        with pytest.raises(TimeoutError):  # the line stays open for the acknowledgement
            await slack.until(lambda: not slack.sockets.is_connected, within=0.2)
        may_go_on.set()
        await asyncio.gather(saying, stopping)

    assert slack.deliveries[-1].acked


async def test_a_wrong_token_is_a_matter_of_health(
    slack: SlackDouble, team: Workspace, recording: Recording
) -> None:
    """It is found by whoever looks, and stops nothing else."""
    options = SlackOptions(
        secret_key=SECRET_KEY,
        bot_token=BOT_TOKEN,
        app_token="xapp-wrong",
        api_url=slack.api_url,
        ping_seconds=0.05,
    )
    channel = SlackChannel(options)
    await channel.start(recording.house())
    await slack.until(lambda: slack.calls("apps.connections.open"))

    assert "SLACK_APP_TOKEN" in await channel.health()
    await channel.stop()
