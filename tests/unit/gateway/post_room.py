"""What the tests of mail with a whole gateway share: an ingest in front of the real intake."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_core.models.scripted import Script
from agent_core.thread.events import Event, ThreadId
from channels.email.ingest import Ingested
from channels.email.tokens import sign_token, tagged
from channels.intake import Gatehouse
from gateway.control.desk import ChannelDesk
from gateway.control.memory import SealedMemory
from gateway.people.directory import Directory
from gateway.settings.config import Person
from storage.values import Wish
from tests.unit.channels.email.letterbox import PROVEN, Letterbox
from tests.unit.channels.email.letters import OURS, SECRET, letter
from tests.unit.gateway.front_door import FrontDoor, front_door

OTTO = Person(name="otto", email=("ada@example.org",))
"""Whom the agent asks before it pays; Ada's address is his."""


class PostRoom:
    """A gateway that takes mail."""

    def __init__(self, door: FrontDoor, people: tuple[Person, ...]) -> None:
        """Put a letterbox in front of the door."""
        self.door = door
        self.memory = SealedMemory(door.store, "email", SECRET)
        house = Gatehouse(
            intake=door.intake,
            desk=ChannelDesk(door.store, Directory(people), "email"),
            memory=self.memory,
        )
        self.box = Letterbox(house=house)

    async def threads(self) -> list[ThreadId]:
        """Give all threads."""
        return [row.id for row in (await self.door.store.threads(Wish())).items]

    async def log(self) -> list[Event]:
        """Give the events of the one thread."""
        [thread] = await self.threads()
        return await self.door.here.log(thread)

    async def asked(self, *headers: str) -> str:
        """Begin a thread by a mail of Ada's that makes the agent ask; gives the question."""
        done = await self.box.drop(letter(PROVEN, "Message-ID: <m0@example.org>", *headers))
        view = await self.door.here.rested(ThreadId(done.thread))
        await self.door.here.released(ThreadId(done.thread))
        [question] = view.questions
        return question.id

    async def replies(
        self,
        question: str,
        words: str,
        *headers: str,
        sender: str = "ada@example.org",
        name: str = "m1",
    ) -> Ingested:
        """Reply to a question; without proof unless a header brings it."""
        to = tagged(OURS, sign_token(question, "reply", SECRET))
        raw = letter(
            *headers,
            f"Message-ID: <{name}@example.org>",
            f"To: {to}",
            sender=f"From: {sender}",
            body=f"{words}\n",
        )
        return await self.box.drop(raw)


@asynccontextmanager
async def post_room(
    *,
    script: Script | None = None,
    people: tuple[Person, ...] = (OTTO,),
    works: bool = True,
) -> AsyncIterator[PostRoom]:
    """Open a gateway that takes mail."""
    routes = {"email": "agent"}
    async with front_door(script=script, people=people, routes=routes, works=works) as door:
        yield PostRoom(door, people)
