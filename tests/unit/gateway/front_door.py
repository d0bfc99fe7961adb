"""What the tests of the channels' way in share: a gateway with an intake, and people who write."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager
from typing import Any

from agent_core import Agent, ScriptedModel, call, calls, contact_human, says
from agent_core.models.scripted import Script
from agent_core.thread.events import Event, ThreadId
from channels.inbound import Command, CommandName, Decision, Edit, Message
from channels.intake import Received
from channels.people import Actor
from gateway.intake.channel_intake import ChannelIntake
from gateway.people.directory import Directory
from gateway.people.routing import Routing
from gateway.settings.config import Person
from storage.memory import MemoryStore
from tests.unit.gateway.logs_of_threads import pay
from tests.unit.gateway.workshop import Workshop, workshop

PLACE = "slack:T1:C1:1700.1"
ANN = Actor(id="slack:T1:UANN", name="ann")
OTTO = Actor(id="slack:T1:UOTTO", name="otto")
BOT = Actor(id="slack:T1:UBOT", is_bot=True)
GUEST = Actor(id="slack:T9:UGUEST", is_external=True)
PEOPLE = (Person(name="otto", slack=("T1:UOTTO",), email=("otto@example.com",), roles=("boss",)),)

_numbers = itertools.count(1)


class FrontDoor:
    """A workshop whose way in is the channels' intake."""

    def __init__(self, here: Workshop, people: tuple[Person, ...], routes: dict[str, str]) -> None:
        """Put the intake in front."""
        self.here = here
        self.store = here.store
        self.intake = ChannelIntake(here.gateway, here.store, Directory(people), routes)

    async def says(
        self,
        text: str,
        actor: Actor = ANN,
        *,
        key: str = "",
        place: str = PLACE,
        **more: Any,  # noqa: ANN401 (of Message)
    ) -> Received:
        """Write something; addressed to the agent unless told otherwise."""
        message = Message(
            key=key or f"m{next(_numbers)}",
            place=place,
            actor=actor,
            text=text,
            **{"is_addressed": True, **more},
        )
        return await self.intake.receive(message)

    async def edits(self, original: str, text: str, actor: Actor = ANN) -> Received:
        """Change a message."""
        key = f"e{next(_numbers)}"
        edit = Edit(key=key, place=PLACE, actor=actor, original=original, text=text)
        return await self.intake.receive(edit)

    async def decides(
        self,
        question: str,
        value: Any,  # noqa: ANN401 (any JSON)
        actor: Actor = OTTO,
        *,
        comment: str = "",
        key: str = "",
        place: str = PLACE,
    ) -> Received:
        """Click a button."""
        decision = Decision(
            key=key or f"d{next(_numbers)}",
            place=place,
            actor=actor,
            question=question,
            value=value,
            comment=comment,
        )
        return await self.intake.receive(decision)

    async def orders(self, name: CommandName, argument: str = "", actor: Actor = ANN) -> Received:
        """Give a command in the channel."""
        order = Command(
            key=f"c{next(_numbers)}",
            place="slack:T1:C1",
            actor=actor,
            name=name,
            argument=argument,
        )
        return await self.intake.receive(order)

    async def asked(
        self, text: str = "pay it", *, place: str = PLACE
    ) -> tuple[ThreadId, list[str]]:
        """Begin a thread, and wait until it waits; gives its open questions."""
        received = await self.says(text, place=place)
        thread = ThreadId(received.thread)
        view = await self.here.rested(thread)
        await self.here.released(thread)
        return thread, [one.id for one in view.questions]

    async def last(self, thread: ThreadId) -> Event:
        """Give a thread's last event."""
        return (await self.here.log(thread))[-1]


@asynccontextmanager
async def front_door(
    *,
    script: Script | None = None,
    people: tuple[Person, ...] = PEOPLE,
    routes: dict[str, str] | None = None,
    works: bool = True,
    store: MemoryStore | None = None,
    channels: Container[str] = (),
) -> AsyncIterator[FrontDoor]:
    """Open a gateway with one agent that pays when it may; `works` starts an engine.

    With `channels`, people are asked there who can't see where the thread began.
    """
    turns: Script = script or [calls(call("pay", amount=1)), says("done")]
    agent = Agent("agent", tools=[pay, contact_human], model=ScriptedModel(turns))
    routing = Routing(Directory(people), channels)
    async with workshop(store or MemoryStore(), agent, routing=routing) as here:
        if works:
            here.engine()
        yield FrontDoor(here, people, {"slack": "agent"} if routes is None else routes)


def asks(*questions: str, **more: Any) -> Script:  # noqa: ANN401 (of contact_human)
    """Make an agent ask these in one turn, and then be done."""
    chosen = [call("contact_human", question=one, **more) for one in questions]
    return [calls(*chosen), says("thanks")]
