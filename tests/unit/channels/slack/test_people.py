"""Who wrote, as Slack's directory says; asked seldom, and never waited for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.people import Actor
from channels.slack.clients import SingleWorkspace
from channels.slack.connections import Connections
from channels.slack.double import SlackDouble, Workspace
from channels.slack.parsing.origin import Who
from channels.slack.people import People
from tests.unit.channels.slack.premises import BOT_TOKEN

ANN = Who(workspace="T1", user="U1", team="T1")


class Clock:
    """Time that a test moves by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.time


@pytest.fixture
async def connections(slack: SlackDouble) -> AsyncIterator[Connections]:
    """Open connections to the double."""
    opened = Connections(slack.api_url)
    yield opened
    await opened.close()


def people(connections: Connections, clock: Clock | None = None, patience: float = 1.0) -> People:
    """Make a directory over the one workspace."""
    clients = SingleWorkspace(BOT_TOKEN, connections)
    return People(clients, now=clock or Clock(), patience=patience)


async def test_somebody_is_asked_for_once_an_hour(
    slack: SlackDouble, team: Workspace, connections: Connections
) -> None:
    """Also by a hundred at once: the directory has a rate limit."""
    clock = Clock()
    directory = people(connections, clock)
    found = await asyncio.gather(*(directory.actor(ANN) for _ in range(100)))

    assert set(found) == {Actor(id="slack:T1:U1", name="ann", email="ann@example.com", how="slack")}
    assert len(slack.calls("users.info")) == 1
    clock.time = 3_599
    await directory.actor(ANN)
    assert len(slack.calls("users.info")) == 1
    clock.time = 3_601
    await directory.actor(ANN)
    assert len(slack.calls("users.info")) == 2


async def test_without_the_scope_the_payloads_word_counts_and_nobody_asks_at_each_message(
    slack: SlackDouble, team: Workspace, connections: Connections
) -> None:
    """A failure is remembered for a minute."""
    slack.fail("users.info", error="missing_scope", times=2)
    clock = Clock()
    directory = people(connections, clock)
    who = Who(workspace="T1", user="U1", team="T1", name="as told")

    for _ in range(3):
        assert await directory.actor(who) == Actor(id="slack:T1:U1", name="as told", how="slack")
    assert len(slack.calls("users.info")) == 1
    clock.time = 61
    await directory.actor(who)
    assert len(slack.calls("users.info")) == 2


async def test_a_slow_directory_is_not_waited_for(
    slack: SlackDouble, team: Workspace, connections: Connections
) -> None:
    """Slack itself waits only three seconds."""
    slack.fail("users.info", hang=30)
    directory = people(connections, patience=0.05)
    await SingleWorkspace(BOT_TOKEN, connections).bot("T1")

    async with asyncio.timeout(5):
        assert await directory.actor(ANN) == Actor(id="slack:T1:U1", how="slack")


async def test_the_directory_knows_a_stranger_that_the_payload_did_not(
    team: Workspace, connections: Connections
) -> None:
    """A command says nothing of where somebody belongs."""
    told = Who(workspace="T1", user="U9")

    assert await people(connections).actor(told) == Actor(
        id="slack:T9:U9", name="eve", is_external=True, how="slack"
    )


async def test_a_bot_that_looks_like_a_person_is_found_out(
    team: Workspace, connections: Connections
) -> None:
    """The intake takes nothing from a bot."""
    team.user("U5", name="robot", is_bot=True)

    assert (await people(connections).actor(Who(workspace="T1", user="U5"))).is_bot


async def test_those_we_have_met_are_known_by_name(
    team: Workspace, connections: Connections
) -> None:
    """So that a mention of them reads well."""
    directory = people(connections)
    await directory.actor(ANN)

    assert directory.names("T1") == {"U1": "ann"}
    assert directory.names("T2") == {}
