"""Slack, its double, and the channel in between; each way in has the same tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.premises import APP_TOKEN, SIGNING_SECRET, Way, furnish, on_duty


@pytest.fixture
async def slack() -> AsyncIterator[SlackDouble]:
    """Run a Slack on loopback that doesn't wait long before it tries again."""
    async with SlackDouble(signing_secret=SIGNING_SECRET, app_token=APP_TOKEN) as running:
        running.retries.delays = (0.01, 0.02, 0.05)
        yield running


@pytest.fixture
def team(slack: SlackDouble) -> Workspace:
    """Give a workspace with people in it."""
    return furnish(slack)


@pytest.fixture
def recording() -> Recording:
    """Give a gatehouse that takes everything."""
    return Recording()


@pytest.fixture(params=["http", "socket"])
async def channel(
    request: pytest.FixtureRequest, slack: SlackDouble, team: Workspace, recording: Recording
) -> AsyncIterator[SlackChannel]:
    """Run the channel, over HTTP and over Socket Mode."""
    way: Way = request.param
    async with on_duty(slack, recording, way) as running:
        yield running
