"""The double, a workspace in it, and the SDK's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.double import SlackDouble, Workspace
from tests.unit.channels.slack.double.stage import SECRET, furnish


@pytest.fixture
async def slack() -> AsyncIterator[SlackDouble]:
    """Run a double for the time of a test."""
    async with SlackDouble(signing_secret=SECRET, app_token="xapp-1") as double:
        yield double


@pytest.fixture
def team(slack: SlackDouble) -> Workspace:
    """Furnish a workspace."""
    return furnish(slack)


@pytest.fixture
def client(slack: SlackDouble) -> AsyncWebClient:
    """Give the SDK's client, pointed at the double."""
    return AsyncWebClient(token="xoxb-1", base_url=slack.api_url)
