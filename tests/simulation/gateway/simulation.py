"""One seed from beginning to end: minutes of trouble, then all is mended and must come to rest."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from agent_core.errors import ImpossibleEvent
from gateway.people.directory import Directory
from storage.errors import StoreError
from tests.simulation.gateway.agent import Works, make_agent
from tests.simulation.gateway.courier import Courier
from tests.simulation.gateway.database import Database
from tests.simulation.gateway.faults import Faults
from tests.simulation.gateway.invariants import Evidence, violations
from tests.simulation.gateway.loop import SimLoop, Stuck
from tests.simulation.gateway.machine import Ground, Machine, Role
from tests.simulation.gateway.mutations import Mutation
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.operators import Operators
from tests.simulation.gateway.outside import Outside
from tests.simulation.gateway.people import Crowd
from tests.simulation.gateway.town import Town
from tests.simulation.gateway.trace import Trace
from tests.simulation.gateway.weather import CALM, draw

_ROLES: tuple[tuple[Role, ...], ...] = (
    ("all", "all"),
    ("all", "all", "all"),
    ("web", "worker", "worker"),
    ("all", "worker"),
)
_REST_SECONDS = 1_800.0
_LOOK_SECONDS = 20.0
_TIMERS_SECONDS = 60.0


@dataclass
class Result:
    """What came of a seed."""

    seed: int
    wrong: list[str]
    digest: str
    seconds: float
    """Of its own time."""
    steps: int
    faults: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


def simulate(
    seed: int, *, mutation: Mutation | None = None, tell: Callable[[str], None] | None = None
) -> Result:
    """Run one seed, and hold it against the rules."""
    story = Simulation(seed, mutation or Mutation(), tell)
    heard = _Heard(story.wrong)
    log = logging.getLogger("parley")
    propagates, log.propagate = log.propagate, False
    log.addHandler(heard)
    try:
        wrong = story.run()
        return Result(
            seed,
            wrong,
            story.trace.digest(),
            story.loop.time(),
            story.loop.steps,
            story.trace.faults,
            story.trace.counts,
        )
    finally:
        story.clear_away()
        log.removeHandler(heard)
        log.propagate = propagates


class _Heard(logging.Handler):
    """Hears what the program logs as a mistake of its own."""

    def __init__(self, wrong: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._wrong = wrong

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what is no fault of ours."""
        exc = record.exc_info[1] if record.exc_info else None
        if exc is not None and not isinstance(exc, StoreError | TimeoutError):
            self._wrong.append(f"{record.getMessage()}: {exc!r}")


class Simulation:
    """Everything that a seed makes."""

    def __init__(
        self, seed: int, mutation: Mutation, tell: Callable[[str], None] | None = None
    ) -> None:
        chance = Random(seed)  # noqa: S311 (a simulation, not a secret)
        self.chance = chance
        self.wrong: list[str] = []
        self.loop = SimLoop(Random(chance.random()))  # type: ignore[abstract]  # noqa: S311 (no sockets here; as above)
        self.trace = Trace(self.loop.time, tell)
        self.network = Network(self.loop, chance, draw(chance), self.trace)
        self.database = Database(self.network, chance, self.trace)
        self.outside = Outside(self.loop.time)
        machines: list[Machine] = []
        self.courier = Courier(self.loop, self.network, chance, self.trace, machines)
        self.town = Town()
        self.crowd = Crowd(
            self.town,
            chance,
            loop=self.loop,
            outside=self.outside,
            courier=self.courier,
            database=self.database,
        )
        ground = self._ground(chance, mutation)
        roles = enumerate(chance.choice(_ROLES), start=1)
        machines += [Machine(ground, f"machine{n}", role) for n, role in roles]
        self.machines = machines
        if self.network.weather.gone:
            citizen = chance.choice(self.town.citizens)
            self.outside.gone.add(
                chance.choice((f"slack:{citizen.slack}", f"email:{citizen.email}"))
            )
        self.faults = Faults(chance, machines, self.database, self.outside, self.trace)
        self.operators = Operators(chance, self.courier, self.database, self.network, self.trace)

    def _ground(self, chance: Random, mutation: Mutation) -> Ground:
        """Draw what all machines have in common."""
        works = Works(chance, self.network, self.outside, self.loop.time, mutation)
        return Ground(
            loop=self.loop,
            chance=chance,
            network=self.network,
            database=self.database,
            outside=self.outside,
            trace=self.trace,
            agent=make_agent(works, chance, self.network),
            people=Directory(self.town.persons(chance)),
            mutation=mutation,
            lease_ms=chance.choice((6_000, 12_000)),
            poll_seconds=chance.choice((3.0, 6.0)),
            at_once=chance.choice((1, 2, 8)),
            ids={},
            wrong=self.wrong,
        )

    def run(self) -> list[str]:
        """Live through it; give what is wrong in the end."""
        try:
            is_at_rest = self.loop.run(self._story())
        except Stuck as exc:
            return [*self.wrong, str(exc)]
        self.wrong += self.database.referee.wrong + self.loop.complaints
        if not is_at_rest:
            self.wrong.append(f"it did not come to rest within {_REST_SECONDS:.0f} s of calm")
        try:
            evidence = Evidence(
                *(self.database.tables, self.database.seal, self.outside),
                *(self.courier.parcels, self.town),
            )
        except ImpossibleEvent as exc:
            return [*self.wrong, f"a log does not add up: {exc}"]
        return [*self.wrong, *violations(evidence)]

    def clear_away(self) -> None:
        """End what is left."""
        self.network.is_gone = True
        self.loop.clear_away()

    async def _story(self) -> bool:
        await self.database.open()
        for machine in self.machines:
            machine.begin()
        self.trace.note("weather", ", ".join(self.network.weather.kinds))
        seconds = self.chance.uniform(60.0, 180.0)
        trouble = [
            asyncio.create_task(part)
            for part in (
                self.faults.break_things(self.network),
                self.operators.work(),
                self.crowd.notices_events(),
            )
        ]
        await self.crowd.live(seconds, self.chance.randint(3, 8))
        await asyncio.sleep(self.chance.uniform(5.0, 60.0))
        for part in trouble:
            part.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*trouble, return_exceptions=True)
        return await self._rest()

    async def _rest(self) -> bool:
        """Mend everything, and wait until nothing is left to do."""
        self.trace.note("weather", "calm")
        self.network.weather = CALM
        self.crowd.is_quiet = True
        self.faults.heal()
        since = self.loop.time()
        while self.loop.time() < since + _REST_SECONDS:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._is_at_rest():
                return True
            await self._tidy_up(self.loop.time() - since)
        return False

    async def _tidy_up(self, calm_for: float) -> None:
        for machine in self.machines:
            machine.begin()
        await self.operators.tidy_up()
        if calm_for < _TIMERS_SECONDS:
            return  # what is due by itself comes first
        self._look_for_lost_timers()
        await self.operators.answer_all()
        for row in list(self.database.tables.questions.values()):
            if row.status == "open" and row.body["kind"] == "event":
                key = row.body["prompt"].removeprefix("Waiting for ")
                await self.crowd.happens(key, f"{row.id} {self.loop.time()}")

    def _look_for_lost_timers(self) -> None:
        """A question whose time is up has gone on by now: nobody has to ask for it."""
        long_ago = self.machines[0].now() - 30_000
        for row in self.database.tables.questions.values():
            ends = row.body.get("on_expiry", "tell_agent") in {"deny", "tell_agent"}
            if row.status == "open" and ends and (row.expires_at or long_ago) < long_ago:
                status = self.database.tables.threads[row.thread].status
                if status == "waiting":
                    self.wrong.append(f"{row.id} should have expired")

    def _is_at_rest(self) -> bool:
        tables = self.database.tables
        return (
            not self.courier.under_way
            and not self.database.pending()
            and all(one.status != "open" for one in tables.questions.values())
            and all(
                one.wake_at is None and one.status not in {"paused", "running"}
                for one in tables.threads.values()
            )
        )
