"""The ordeal itself: customers go on all the while, trouble comes in turn, then all is checked.

Each acknowledged message has one effect, each approved call ran at most once, each question has
one outcome, every card in Slack tells it, and the outbox drains.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.ordeal.house import House, Kind, house
from tests.ordeal.troubles import KILL, TROUBLES
from tests.scenario.gateway.restless_customer import Restless, Story

_CUSTOMERS = 6
_DRAIN_SECONDS = 150.0
"""For what is under way at the end: several leases, and deliveries that wait for their next try."""
_LOOK_EACH = 0.2
_KILLS_BETWEEN = 6


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long, or how many kills, and in which order: all by a seed."""

    kind: Kind
    seed: int
    kills: int
    seconds: float = 0.0
    """Go on at least so long."""
    only: tuple[str, ...] = ()


@dataclass(kw_only=True)
class Outcome:
    """What was endured, and what came of it."""

    kind: str
    seed: int
    seconds: float = 0.0
    troubles: Counter[str] = field(default_factory=Counter)
    threads: Counter[str] = field(default_factory=Counter)
    """By how they ended."""
    lost_connections: int = 0
    model_calls: int = 0
    drained_in: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain values."""
        return asdict(self)


@dataclass
class Teller(Restless):
    """A customer of this desk: it asks to choose."""

    thawed: asyncio.Event = field(default_factory=asyncio.Event)

    async def _answer(self, story: Story, question: Mapping[str, Any]) -> None:
        """Say what became of a call only when nobody is frozen who may still be at it."""
        await self.thawed.wait()
        await super()._answer(story, question)

    def _decide(self, question: Mapping[str, Any]) -> object:
        names = [option["name"] for option in question["options"]]
        return (
            self.chance.choice(names) if names == ["north", "south"] else super()._decide(question)
        )

    async def _check_deliveries(self, log: list[Any], story: Story) -> None:
        """All that people must hear was said, or they were found elsewhere; nothing is open."""
        found = await self.server.rows(
            "SELECT address, status FROM deliveries WHERE thread = $1", story.thread
        )
        bad = [one for one in found if one[1] not in {"sent", "settled", "failed"}]
        assert not bad, (bad, log)


async def endure(plan: Plan, folder: Path) -> Outcome:
    """Go through with it; what is broken raises, and names itself."""
    chance = random.Random(plan.seed)  # noqa: S311 (chance that can be repeated)
    outcome = Outcome(kind=plan.kind, seed=plan.seed)
    began = time.monotonic()
    async with house(folder, plan.kind, chance) as here, aiohttp.ClientSession() as session:
        teller = Teller(here.site, session, chance=chance, thawed=here.thawed)
        told = await _busy(here, teller, plan, outcome)
        outcome.seconds = time.monotonic() - began
        outcome.drained_in = await _drained(here)
        for story in told:
            await teller.check(story)
        await _check_all(here, told)
        outcome.threads = Counter(story.status for story in told)
        outcome.lost_connections, outcome.model_calls = teller.lost, here.brain.calls
    return outcome


async def _busy(here: House, teller: Teller, plan: Plan, outcome: Outcome) -> list[Story]:
    over = asyncio.Event()
    told: list[Story] = []

    async def go_on(name: str) -> None:
        number = 0
        while not over.is_set():
            told.append(await teller.tell(f"order-{name}-{number}"))
            number += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(_CUSTOMERS):
            tasks.create_task(go_on(f"c{number}"))
        await _trouble(here, plan, outcome)
        over.set()
    return told


async def _trouble(here: House, plan: Plan, outcome: Outcome) -> None:
    """Kill often, and let something else go wrong between; each kind comes before one repeats."""
    table = {
        name: trouble
        for name, trouble in TROUBLES[plan.kind].items()
        if not plan.only or name in plan.only
    }
    others = [name for name in table if name != KILL]
    end = time.monotonic() + plan.seconds
    while outcome.troubles[KILL] < plan.kills or time.monotonic() < end:
        here.site.chance.shuffle(others)
        for name in (one for other in others for one in (*[KILL] * _KILLS_BETWEEN, other)):
            if outcome.troubles[KILL] >= plan.kills and time.monotonic() >= end:
                break
            await asyncio.sleep(here.site.chance.uniform(0.05, 0.6))
            await table[name](here)
            outcome.troubles[name] += 1


async def _drained(here: House) -> float:
    """Wait until nothing is due or unsent, and no card can be clicked; tell how long it took."""
    began = time.monotonic()
    await here.site.at_rest(_DRAIN_SECONDS)
    while left := here.cards_with_buttons():
        assert time.monotonic() < began + _DRAIN_SECONDS, (left, here.site.log[-4000:])
        await asyncio.sleep(_LOOK_EACH)
    return time.monotonic() - began


async def _check_all(here: House, told: list[Story]) -> None:
    keys = Counter(line.split()[3] for line in here.site.lines("ledger.txt"))
    assert set(keys.values()) <= {1}, [key for key, times in keys.items() if times > 1]
    assert await here.site.rows("SELECT count(*) FROM threads") == [(len(told),)]
    assert any(story.status == "finished" for story in told)
