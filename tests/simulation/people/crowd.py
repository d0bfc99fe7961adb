"""What people do when they are asked: in time, too late, twice, by another door, or not at all."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, TypeAlias

from agent_core.errors import Refused
from agent_core.thread.events import Millis, ThreadId
from agent_core.thread.questions import QuestionId
from channels.inbound import Decision, Message
from channels.intake import Received
from channels.outgoing import Outgoing
from channels.people import Actor
from gateway.control.views import Launch
from tests.simulation.people.city import DAY, HOUR, Citizen, City
from tests.simulation.people.works import Works

Act: TypeAlias = Callable[[], Awaitable[object]]

_ASKING = {"question.asked", "question.reminded", "question.escalated"}
_KEYS = ("desk", "night-desk")
_WORDS = ("yes", "no", "👍", "no, too much", "what is this?", "never mind")


class Crowd:
    """Everybody at once, each in their own time."""

    def __init__(self, city: City, chance: Random, threads: int) -> None:
        """Plan the first words; the rest follows from what people hear."""
        self.city = city
        self.chance = chance
        self.works = Works(city, chance, self.hears)
        self.threads: dict[ThreadId, str] = {}
        """Which threads there are, and where."""
        self.seen = Counter[str]()
        """What happened how often."""
        self._plan: list[tuple[Millis, int, Act]] = []
        self._numbers = itertools.count()
        for _ in range(threads):
            self._later(chance.uniform(0, 5 * DAY), self._launch)

    async def live(self, days: int) -> None:
        """Let that many days pass, one moment after the other; now and then things break."""
        end = self.works.now + days * DAY * 1000
        while self._plan and self._plan[0][0] <= end:
            moment, _, act = heapq.heappop(self._plan)
            self.works.clock.moment = max(self.works.now, moment)
            if self.chance.random() < 0.01:
                self.works.restart()
                self.seen["restarts"] += 1
            if self.chance.random() < 0.01:
                self.works.clock.pass_time(self.chance.uniform(HOUR, DAY))
                self.seen["outages"] += 1
            await act()
            await self._settle()

    def _later(self, seconds: float, act: Act) -> None:
        moment = Millis(self.works.now + round(seconds * 1000))
        heapq.heappush(self._plan, (moment, next(self._numbers), act))

    async def _settle(self) -> None:
        """Let workers and senders do what is due, and plan the next timers."""
        for thread in await self.works.work():
            row = await self.works.store.thread(thread)
            assert row is not None
            if row.wake_at is not None:
                self._later(max(row.wake_at - self.works.now, 0) / 1000, _nothing)
        await self.works.send()

    # Beginning

    async def _launch(self) -> None:
        chance = self.chance
        wanted = chance.choices(range(len(self.city.rules)), k=chance.choice((1, 1, 2)))
        orders = "; ".join(f"act {one} {chance.randrange(9)}" for one in wanted)
        if chance.random() < 0.1:
            launch = Launch(agent="agent", text=orders)
            view, _ = await self.works.gateway.launch(launch, by=chance.choice(_KEYS))
            self.threads[ThreadId(view.id)] = ""
            return
        place = f"slack:T1:C{next(self._numbers)}:17.1"
        # Often one of those who may approve: then four eyes matter.
        leads = self.city.asked(self.city.rules[wanted[0]].approvers)
        requester = chance.choice(leads if chance.random() < 0.6 and leads else self.city.people)
        received = await self._says(place, orders, requester)
        self.threads[ThreadId(received.thread)] = place

    # Hearing

    async def hears(self, message: Outgoing) -> None:
        """Get a message: if it asks, some will answer, in their own time."""
        self.seen[message.kind] += 1
        card = message.question
        if message.kind not in _ASKING or card is None:
            return
        row = await self.works.store.question(QuestionId(card.id))
        assert row is not None
        assert card.status == row.status, "a copy shows what is not so"
        if row.status != "open":
            return
        audience = tuple(row.body["audience"])
        self._check_hearer(message.address, audience, ThreadId(card.thread))
        await self._react(card.id, ThreadId(card.thread), audience)

    def _check_hearer(self, address: str, audience: tuple[str, ...], thread: ThreadId) -> None:
        """Nobody is asked who may not decide, but in the place of the conversation."""
        if address == self.threads.get(thread, address):
            return
        citizen = self.city.owner.get(address)
        assert citizen is not None, f"{address} is nobody's"
        assert citizen.is_asked(audience), f"{address} was asked, and is not in {audience}"

    async def _react(self, question: str, thread: ThreadId, audience: tuple[str, ...]) -> None:
        chance = self.chance
        if chance.random() < 0.7:  # most copies are not even looked at
            return
        asked = self.city.asked(audience)
        some = chance.sample(asked, min(len(asked), chance.choice((0, 0, 1, 1, 2, 3))))
        for citizen in some:
            self._decides_later(question, thread, citizen)
        if chance.random() < 0.1:  # whoever it may be
            self._decides_later(question, thread, chance.choice(self.city.people))
        if chance.random() < 0.1:
            self._later(self._patience(), lambda: self._by_key(question))
        row = await self.works.store.thread(thread)
        assert row is not None
        requester = self.city.owner.get(row.requester)
        if requester is not None and chance.random() < 0.15:
            self._decides_later(question, thread, requester)
        if requester is not None and chance.random() < 0.03:
            place = self.threads[thread]
            self._later(self._patience(), lambda: self._says(place, "never mind", requester))
        if chance.random() < 0.02:
            self._later(self._patience(), lambda: self._tries("cancel", thread))
        if chance.random() < 0.08:
            self._changes_mind(question, thread, asked)

    def _patience(self) -> float:
        return self.chance.expovariate(1 / (3 * HOUR))

    # Deciding

    def _decides_later(self, question: str, thread: ThreadId, citizen: Citizen) -> None:
        delay, place = self._patience(), self.threads.get(thread, "")
        if place and self.chance.random() < 0.2:
            words = self.chance.choice(_WORDS)
            self._later(delay, lambda: self._says(place, words, citizen))
            return
        decision = self._decision(question, citizen)
        self._later(delay, lambda: self._receives(decision))
        if self.chance.random() < 0.15:  # the channel sends it again
            self._later(delay + 1, lambda: self._receives(decision))
        if self.chance.random() < 0.15:  # they come again, by another door
            again = self._decision(question, citizen)
            self._later(delay + self._patience(), lambda: self._receives(again))

    def _decision(self, question: str, citizen: Citizen) -> Decision:
        value: dict[str, Any] = {"approved": self.chance.random() < 0.85}
        if value["approved"] and self.chance.random() < 0.2:
            value["arguments"] = {"number": 100 + self.chance.randrange(2)}
        actor = self._actor(citizen)
        key, place = f"d{next(self._numbers)}", actor.id
        return Decision(key=key, place=place, actor=actor, question=question, value=value)

    def _actor(self, citizen: Citizen) -> Actor:
        return self.chance.choice([*citizen.identities().values()])

    async def _says(self, place: str, text: str, citizen: Citizen) -> Received:
        message = Message(
            key=f"m{next(self._numbers)}",
            place=place,
            actor=self._actor(citizen),
            text=text,
            is_addressed=True,
        )
        return await self._receives(message)

    async def _receives(self, inbound: Decision | Message) -> Received:
        received = await self.works.intake.receive(inbound)
        self.seen[received.effect] += 1
        assert received.words or received.effect != "refused", "somebody was left without a word"
        return received

    async def _by_key(self, question: str) -> None:
        value = {"approved": self.chance.random() < 0.8}
        by = self.chance.choice(_KEYS)
        await self._attempt(lambda: self.works.gateway.answer(question, value, by=by))

    # Changing one's mind

    def _changes_mind(self, question: str, thread: ThreadId, asked: list[Citizen]) -> None:
        """Hold the thread, let enough approve, take it back, and let it go on."""
        delay = self._patience()
        self._later(delay, lambda: self._tries("pause", thread))
        for number, citizen in enumerate(self.chance.sample(asked, min(len(asked), 4)), start=1):
            decision = self._decision(question, citizen)
            self._later(delay + number, lambda one=decision: self._receives(one))  # type: ignore[misc]  # bound now
        self._later(delay + 30, lambda: self._takes_back(question))
        self._later(delay + 60, lambda: self._tries("resume", thread))

    async def _takes_back(self, question: str) -> None:
        by = f"slack:{self.chance.choice(self.city.people).slack}"
        if await self._attempt(lambda: self.works.gateway.take_back(question, by=by)):
            self.seen["taken back"] += 1

    async def _tries(self, command: str, thread: ThreadId) -> None:
        await self._attempt(lambda: getattr(self.works.gateway, command)(thread, by="desk"))

    async def _attempt(self, act: Act) -> bool:
        try:
            await act()
        except Refused as exc:
            self.seen["refused" if str(exc) else "refused without a word"] += 1
            return False
        return True


async def _nothing() -> None:
    """A timer is due: the workers see to it."""
