"""What the tests of the way out share: a gateway whose channels are notebooks, with a sender."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.json_values import JsonObject
from agent_core.loop.world import World
from agent_core.thread.events import QuestionReminded, ThreadId
from agent_core.thread.questions import QuestionId
from channels.channel import Sent
from channels.notebook import Notebook
from channels.outgoing import Outgoing
from channels.people import Actor
from gateway.outbox.sender import Sender, SenderOptions
from gateway.people.directory import Directory
from gateway.settings.config import Person
from gateway.telemetry.figures import Figures
from storage.memory import MemoryStore
from storage.values import Commit, Delivery, DeliveryId, NewDelivery
from tests.unit.gateway.front_door import PEOPLE, PLACE, FrontDoor, front_door
from tests.unit.gateway.workshop import stop

YES = {"approved": True}
MAILED = Actor(id="email:otto@x.org", email="otto@x.org")
QUICK = SenderOptions(poll_seconds=0.005, linger_seconds=0.001)


class Office:
    """A gateway whose channels are notebooks, with a sender."""

    def __init__(self, door: FrontDoor, named: dict[str, Notebook]) -> None:
        """Know the door and the channels."""
        self.door = door
        self.named = named
        self.figures = Figures()

    async def deliveries(self, thread: ThreadId, wanted: int) -> list[Delivery]:
        """Wait until so many deliveries of a thread are at their end."""
        async with asyncio.timeout(10):
            while True:
                rows = await self.door.store.deliveries(thread)
                if sum(row.status != "pending" for row in rows) >= wanted:
                    return rows
                await asyncio.sleep(0.002)

    def turn_off(self, channel: str) -> None:
        """Have a channel no more."""
        del self.named[channel]

    async def remind(self, thread: ThreadId, question: str) -> None:
        """Let a reminder be due."""
        await self.door.here.gateway.decide(
            thread, lambda _, now: [QuestionReminded(at=now, question=QuestionId(question))]
        )

    async def also_says(
        self, thread: ThreadId, kind: str, question: str, *, address: str = PLACE, **marks: bool
    ) -> None:
        """Put one more message about a question into the outbox."""
        now = World().now()
        more = NewDelivery(
            id=DeliveryId(f"{thread}.{kind}.more" + ("" if address == PLACE else f">{address}")),
            address=address,
            body={"kind": kind, "question": question, **marks},
            due_at=now,
            question=QuestionId(question),
        )
        await self.door.store.commit(Commit(thread=thread, deliveries=[more], now=now))


@asynccontextmanager
async def office(
    *channels: Notebook,
    people: tuple[Person, ...] = (),
    options: SenderOptions = QUICK,
    store: MemoryStore | None = None,
) -> AsyncIterator[Office]:
    """Open a gateway that sends by these channels."""
    named = {channel.name: channel for channel in channels}
    async with front_door(store=store, people=people or PEOPLE, channels=named) as door:
        here = Office(door, named)
        sender = Sender(
            door.store,
            named,
            door.here.hints,
            people=Directory(people),
            options=options,
            figures=here.figures,
        )
        task = asyncio.create_task(sender.run())
        try:
            yield here
        finally:
            await stop(task)


class Slow(Notebook):
    """A channel that takes long over what goes to one address, or to any."""

    def __init__(self, *script: Exception | JsonObject, name: str, slow_at: str = "") -> None:
        """Wait for a word."""
        super().__init__(*script, name=name)
        self.slow_at = slow_at
        self.on_the_way = asyncio.Event()
        self.go_on = asyncio.Event()

    async def send(self, message: Outgoing) -> Sent:
        """Tell that it is on its way, and wait."""
        if self.slow_at in ("", message.address):
            self.on_the_way.set()
            await self.go_on.wait()
        return await super().send(message)
