"""Slack delivers in any order, twice, and again: one mention is one thread, one click one decision.

The real channel and the real Slack SDK, against the double, on real sockets; the gateway is whole,
on a store in memory.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_core import Agent, ScriptedModel, call, calls, says, tool
from agent_core.thread.events import QuestionAnswered, ThreadId
from channels.channel import Channel
from channels.slack.channel import SlackChannel
from channels.slack.double import SlackDouble
from channels.slack.double.records import Message
from channels.slack.double.workspace import Workspace
from channels.slack.options import SlackOptions
from gateway.channel_wiring import open_channels
from gateway.control.local import LocalGateway
from gateway.outbox.sender import Sender
from gateway.people.directory import Directory
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine, EngineOptions
from storage.memory import MemoryStore
from storage.values import Wish
from tests.unit.channels.slack.premises import served
from tests.unit.gateway.workshop import stop

SECRET = b"a secret of sixteen"
First = Literal["message", "app_mention", "together"]

mentions_ = st.lists(
    st.tuples(st.sampled_from(["message", "app_mention", "together"]), st.integers(0, 2)),
    min_size=1,
    max_size=4,
)
clicks_ = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["parley:approve", "parley:deny"])), max_size=6
)


@tool(approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


def agent() -> Agent:
    """Make an agent that asks for leave in every thread, and keeps no state of its own."""
    return Agent(
        "agent",
        tools=[pay],
        model=ScriptedModel(
            lambda request: (
                says("done")
                if any("tool_calls" in message for message in request.messages)
                else calls(call("pay"))
            )
        ),
    )


@asynccontextmanager
async def house(slack: SlackDouble) -> AsyncIterator[MemoryStore]:
    """Open a whole gateway whose Slack is the double."""
    store = MemoryStore()
    await store.open()
    hints = Hints(store)
    agents = {"agent": agent()}
    channel = SlackChannel(
        SlackOptions(
            secret_key=SECRET, signing_secret="shhh", bot_token="xoxb-1", api_url=slack.api_url
        )
    )
    channels: dict[str, Channel] = {"slack": channel}
    gateway = LocalGateway(store, agents, hints)
    parts = [
        hints.run(),
        Engine(store, agents, hints, options=EngineOptions(poll_seconds=0.05)).run(),
        Sender(store, channels, hints).run(),
    ]
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            open_channels(
                channels,
                gateway,
                store,
                Directory(),
                {"slack": "agent"},
                secret=SECRET,
                receives=True,
            )
        )
        url = await stack.enter_async_context(served(channel.routes()))
        slack.request_url = f"{url}/slack/events"
        for part in parts:
            stack.push_async_callback(stop, asyncio.create_task(part))
        yield store


async def decisions(store: MemoryStore, thread: ThreadId) -> int:
    """Count how often a thread's question was answered."""
    return sum(isinstance(event, QuestionAnswered) for event in await store.events(thread))


async def tell(mentions: list[tuple[First, int]], clicks: list[tuple[int, str]]) -> None:
    """Mention and click as given, and look at what became of it."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        team = slack.workspace("T1", bot_token="xoxb-1")
        team.user("U1", name="ann")
        for number in range(len(mentions)):  # Slack takes one post a second in each
            team.channel(f"C{number}", name=f"room-{number}", members=["U1", "UBOT"])
        async with house(slack) as store:
            said: list[Message] = []
            for number, (first, copies) in enumerate(mentions):
                slack.retries.duplicates = copies
                said.append(await team.says("U1", f"C{number}", "<@UBOT> pay", first=first))
            slack.retries.duplicates = 1
            cards = [await first_reply(slack, team, one) for one in said]
            wanted = [cards[number % len(cards)] for number, _ in clicks]
            await asyncio.gather(
                *(
                    team.clicks("U1", card, name, stale=True)
                    for card, (_, name) in zip(wanted, clicks, strict=True)
                )
            )
            await slack.settled()
            rows = (await store.threads(Wish())).items
            counts = Counter([await decisions(store, row.id) for row in rows])

    clicked = len({card.ts for card in wanted})
    assert len(rows) == len(mentions)
    assert counts == Counter({1: clicked, 0: len(mentions) - clicked}) - Counter()


async def first_reply(slack: SlackDouble, team: Workspace, root: Message) -> Message:
    """Wait for what the bot says first in a thread."""

    def look() -> Message | None:
        return next(iter(team.posted(root.channel, root.ts)), None)

    return await slack.until(look)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mentions=mentions_, clicks=clicks_)
def test_one_mention_is_one_thread_and_one_click_one_decision(
    mentions: list[tuple[First, int]], clicks: list[tuple[int, str]]
) -> None:
    """Whatever Slack repeats, and in whichever order it comes."""
    asyncio.run(tell(mentions, clicks))
