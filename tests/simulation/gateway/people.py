"""People: they begin things, see cards and mails, and answer: late, twice, by two doors, or never.

What they do next is drawn when something reaches them. Everything they send goes by a courier.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from random import Random
from typing import Any

from agent_core.thread.events import ThreadId
from channels.inbound import Command, CommandName, Decision, Edit, Message, Undelivered
from channels.occurrences import Occurrence
from channels.people import Actor
from gateway.control.views import Launch
from tests.simulation.gateway.agent import NAME, ORDERS
from tests.simulation.gateway.courier import Courier, Parcel
from tests.simulation.gateway.database import Database
from tests.simulation.gateway.loop import SimLoop
from tests.simulation.gateway.outside import Outside, Post
from tests.simulation.gateway.town import Citizen, Town

KEYS = ("desk", "night-desk")
_WORDS = ("yes", "no", "what is this?", "never mind", "wait, no", "red")
_COMMANDS: tuple[CommandName, ...] = ("status", "pause", "resume", "cancel", "move")


class Crowd:
    """Everybody."""

    def __init__(
        self,
        town: Town,
        chance: Random,
        *,
        loop: SimLoop,
        outside: Outside,
        courier: Courier,
        database: Database,
    ) -> None:
        self._town = town
        self.is_quiet = False
        """Nobody does anything new."""
        self._loop = loop
        self._chance = chance
        self._outside = outside
        self._courier = courier
        self._database = database
        self._numbers = itertools.count(1)
        outside.on_post = self._sees

    # Beginning

    async def live(self, seconds: float, threads: int) -> None:
        """Begin so many things in that time."""
        for _ in range(threads):
            await asyncio.sleep(self._chance.expovariate(threads / seconds))
            self._do(self._begin())

    async def _begin(self) -> None:
        chance, number = self._chance, next(self._numbers)
        token = f"m{number}"
        orders = "; ".join(chance.choices(ORDERS, k=chance.choice((1, 1, 2, 3))))
        text, who = f"{token}: {orders}", chance.choice(self._town.citizens)
        match chance.randrange(8):
            case 0 | 1:
                await self._launch(token, text)
            case 2:
                await self._hook(token, text)
            case 3:
                place = f"email:{who.email}:{number:016x}"
                await self._says(place, token, text, who.actor("email"))
                await self._says_more(place, who.actor("email"))
            case _:
                place = f"slack:T1:{chance.choice(('C', 'D'))}{number}:17.1"
                await self._says(place, token, text, who.actor("slack"))
                await self._says_more(place, who.actor("slack"))

    async def _launch(self, token: str, text: str) -> None:
        by, chance = self._chance.choice(KEYS), self._chance
        url = f"https://hooks.example.com/{token}" if chance.random() < 0.5 else ""
        key = f"key{chance.randrange(3)}" if chance.random() < 0.2 else ""
        launch = Launch(agent=NAME, text=text, callback_url=url, thread_key=key)
        parcels = [
            await self._courier.ask(
                token,
                lambda one: one.gateway.launch(launch, by=by, idempotency_key=token),
                by=by,
            )
            for _ in range(2 if chance.random() < 0.3 else 1)
        ]
        said = parcels[0].acknowledged[0]
        if isinstance(said, tuple):  # and not refused, because the thread of that key is over
            thread = said[0].id
            await self._courier.ask("", lambda one: one.gateway.wait(thread, seconds=12), most=2)

    async def _hook(self, token: str, text: str) -> None:
        """Deliver a webhook three times, all at once; some are about the same branch."""
        branch = self._chance.choice(("main", token, token))
        said = Message(
            key=f"ci:{token}",
            place=f"webhook:ci:{branch}",
            actor=Actor(id="webhook:ci", is_authenticated=False),
            text=text,
            is_addressed=True,
            agent=NAME,
            audience=("leads",),
            may_answer=False,
            is_alone=branch == token,
            repeat=self._chance.choice(("resume", "supersede")) if branch == "main" else "resume",
        )
        await asyncio.gather(*(self._courier.bring(said, token) for _ in range(3)))

    async def _says_more(self, place: str, actor: Actor) -> None:
        if self._chance.random() < 0.4:
            await asyncio.sleep(self._chance.expovariate(1 / 20))
            token = f"m{next(self._numbers)}"
            await self._says(place, token, f"{token}: {self._chance.choice(ORDERS)}", actor)
        if self._chance.random() < 0.25:
            await asyncio.sleep(self._chance.expovariate(1 / 20))
            await self._commands(place, actor)

    async def _says(self, place: str, token: str, text: str, actor: Actor, **more: Any) -> Parcel:  # noqa: ANN401 (fields of Message)
        key = f"k{next(self._numbers)}"
        said = Message(key=key, place=place, actor=actor, text=text, is_addressed=True, **more)
        parcel = await self._courier.bring(said, token, most=self._patience(place))
        if self._chance.random() < 0.1:
            words = f"m{next(self._numbers)}: plain"
            edit = Edit(key=f"{key}e", place=place, actor=actor, original=key, text=words)
            await self._courier.bring(edit, "", most=self._patience(place))
        return parcel

    def _patience(self, place: str) -> int:
        """Slack gives up after a few tries; a mail stays in its mailbox."""
        return 4 if place.startswith("slack") else 1_000

    async def _commands(self, place: str, actor: Actor) -> None:
        name = self._chance.choice(_COMMANDS)
        order = Command(
            key=f"k{next(self._numbers)}",
            place=place,
            actor=actor,
            name=name,
            argument="email" if name == "move" else "",
        )
        await self._courier.bring(order, "", most=2)

    # Seeing

    def _sees(self, post: Post) -> None:
        """Have a message reach whoever reads there; a mail may come back."""
        if post.channel == "email" and self._chance.random() < self._bounces:
            post.has_bounced = True
            self._do(self._bounce(post))
            return
        if post.card is None or not post.is_live or self.is_quiet:
            return
        if self._chance.random() < 0.35:
            return  # nobody looks
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            self._do(self._reacts(post))

    @property
    def _bounces(self) -> float:
        return 0.0 if self.is_quiet else self._database.network.weather.bounces

    async def _bounce(self, post: Post) -> None:
        await asyncio.sleep(self._chance.expovariate(1 / 10))
        daemon = Actor(id="email:mailer-daemon@town.example")
        back = Undelivered(
            key=f"b{next(self._numbers)}",
            place=post.address,
            actor=daemon,
            delivery=post.delivery,
            reason="no such mailbox",
        )
        await self._courier.bring(back, "")

    async def _reacts(self, post: Post) -> None:
        chance = self._chance
        await asyncio.sleep(chance.expovariate(1 / 25))
        if post.channel == "slack" and not post.is_live and chance.random() < 0.6:
            return  # the buttons are gone; some had the old card on their screen
        who = self._reader(post)
        channel = chance.choice((post.channel, post.channel, "slack", "email"))
        luck = chance.random()
        if luck < 0.65:
            await self._clicks(post, who.actor(channel))
        elif luck < 0.75:
            await asyncio.gather(self._clicks(post, who.actor("slack")), self._replies(post, who))
        elif luck < 0.85:
            await self._replies(post, who)
        elif luck < 0.95:
            await self._says(post.address, "", chance.choice(_WORDS), who.actor(post.channel))
        else:
            await self._by_key(post)

    def _reader(self, post: Post) -> Citizen:
        """Give who reads it: of a mailbox its owner; of a channel anybody."""
        owner = self._town.by_identity.get(post.address)
        if owner is not None:
            return owner
        asked = [one for one in self._town.citizens if self._town.is_asked(one.name, post.audience)]
        everybody = self._chance.random() < 0.15 or not asked
        return self._chance.choice(self._town.citizens if everybody else asked)

    async def _clicks(self, post: Post, actor: Actor) -> None:
        token = f"d{next(self._numbers)}"
        value = self._value(post)
        place = post.address if actor.id.startswith(post.channel) else actor.id
        decided = Decision(
            key=token, place=place, actor=actor, question=post.question, value=value, comment=token
        )
        await self._courier.bring(decided, token, most=self._patience(place))

    async def _replies(self, post: Post, who: Citizen) -> None:
        words = self._chance.choice(("yes", "no", "blue", "I am away", "never mind"))
        actor = who.actor("email")
        proof = {"thread": post.thread, "question": post.question, "is_private": True}
        key = f"k{next(self._numbers)}"
        said = Message(key=key, place=actor.id, actor=actor, text=words, **proof)  # type: ignore[arg-type]  # each by its name
        await self._courier.bring(said, "")

    async def _by_key(self, post: Post) -> None:
        by, value, token = self._chance.choice(KEYS), self._value(post), f"d{next(self._numbers)}"
        await self._courier.ask(
            token,
            lambda one: one.gateway.answer(post.question, value, by=by, comment=token),
            by=by,
            most=3,
        )

    def _value(self, post: Post) -> Any:  # noqa: ANN401 (an answer is any JSON)
        card = post.card
        assert card is not None
        if card.kind == "approval":
            return {"approved": self._chance.random() < 0.8}
        if card.kind == "choice":
            return self._chance.choice([one.name for one in card.options] or ["red"])
        return f"w{next(self._numbers)}"

    # What happens outside

    async def happens(self, key: str, delivery: str = "") -> None:
        """Report an event, as a program would; without a delivery's name, once for ever."""
        name = f"api:{delivery or key}"
        report = Occurrence(key=key, delivery=name, value={"ok": True}, how="api key ci")
        await self._courier.ask(f"event {key}", lambda one: one.events.occur(report), by="ci")

    async def notices_events(self) -> None:
        """Report some of what threads wait for, and some of what nobody waits for yet."""
        while not self.is_quiet:
            await asyncio.sleep(self._chance.expovariate(1 / 15))
            number = self._chance.randrange(1, 30)
            self._do(self.happens(f"m{number}.{self._chance.randrange(2)}"))

    def threads(self) -> list[ThreadId]:
        """Give what there is to talk about."""
        return list(self._database.tables.threads)

    def _do(self, act: Coroutine[Any, Any, Any]) -> None:
        self._loop.start(act)
