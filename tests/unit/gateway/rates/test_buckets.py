"""How often: in one process, and in several that share a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from gateway.rates.buckets import Buckets
from gateway.rates.ledger import MOST_ACCOUNTS, Ledger, Spend
from storage.errors import StoreUnreachable
from storage.rates import OneProcess


class Clock:
    """A clock driven by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


class Desk:
    """The store of several processes, which can be away or hang."""

    def __init__(self, clock: Clock) -> None:
        self._rates = OneProcess(clock)
        self.asked = 0
        self.is_away = False
        self.answers = asyncio.Event()
        self.answers.set()

    async def spend(self, spent: Mapping[str, int]) -> Mapping[str, int]:
        """Move buckets on, if it can."""
        self.asked += 1
        await self.answers.wait()
        if self.is_away:
            raise StoreUnreachable("gone")
        return self._rates.spend(spent)


@asynccontextmanager
async def shared(clock: Clock, spend: Spend) -> AsyncIterator[Ledger]:
    """Give the ledger of a process that tells others."""
    ledger = Ledger(clock)
    telling = asyncio.create_task(ledger.run(spend))
    await asyncio.sleep(0)
    try:
        yield ledger
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def test_a_burst_passes_and_then_the_rate_holds() -> None:
    """The first refusal says exactly how long to wait, and waiting that long is enough."""
    clock = Clock()
    buckets = Buckets(Ledger(clock), "key", rate=2, burst=3)

    assert [await buckets.take("a") for _ in range(3)] == [0, 0, 0]
    wait = await buckets.take("a")
    assert wait == pytest.approx(0.5)
    clock.now += wait
    assert await buckets.take("a") == 0
    assert await buckets.take("a") > 0


async def test_one_a_minute_passes_too() -> None:
    """A burst of less than one would let nobody in, ever."""
    clock = Clock()
    buckets = Buckets(Ledger(clock), "hook", rate=1 / 60, burst=1 / 6)

    assert await buckets.take("a") == 0
    assert await buckets.take("a") == pytest.approx(60)


async def test_a_refusal_costs_nothing() -> None:
    """Whoever keeps on asking is not pushed further back by it."""
    buckets = Buckets(Ledger(Clock()), "key", rate=1, burst=1)
    await buckets.take("a")

    assert [await buckets.take("a") for _ in range(5)] == [pytest.approx(1.0)] * 5


async def test_names_and_kinds_have_buckets_of_their_own() -> None:
    """One key that asks too often takes nothing from another, nor from a hook of its name."""
    ledger = Ledger(Clock())
    buckets = Buckets(ledger, "key", rate=1, burst=1)
    await buckets.take("a")

    assert await buckets.take("b") == 0
    assert await Buckets(ledger, "hook", rate=1, burst=1).take("a") == 0
    assert await buckets.take("a") > 0


async def test_a_flood_of_names_does_not_fill_the_memory() -> None:
    """Full buckets are forgotten; if none is full, all are, rather than grow."""
    clock = Clock()
    ledger = Ledger(clock)
    buckets = Buckets(ledger, "address", rate=1, burst=1)
    for number in range(MOST_ACCOUNTS + 10):
        await buckets.take(str(number))
        clock.now += 0.5 if number % 2 else 0.0

    assert len(ledger._accounts) <= MOST_ACCOUNTS


async def test_two_processes_share_a_burst_and_a_rate() -> None:
    """Together they let through what one would, and at most the credit of each besides."""
    clock = Clock()
    desk = Desk(clock)
    async with shared(clock, desk.spend) as here, shared(clock, desk.spend) as there:
        doors = [Buckets(ledger, "key", rate=10, burst=160) for ledger in (here, there)]

        passed = sum([not await door.take("a") for _ in range(200) for door in doors])
        assert 160 <= passed <= 160 + 2 * 10

        clock.now += 60
        later = sum([not await door.take("a") for _ in range(200) for door in doors])
        assert passed + later <= 2 * 160 + 2 * 10 + 10


async def test_few_questions_are_asked_for_many_tokens() -> None:
    """The store must not pay for each request: one statement for a sixteenth of a burst."""
    clock = Clock()
    desk = Desk(clock)
    async with shared(clock, desk.spend) as ledger:
        door = Buckets(ledger, "key", rate=100, burst=320)
        assert [await door.take("a") for _ in range(320)] == [0] * 320
        assert await door.take("a") > 0

    assert desk.asked <= 16


async def test_who_asks_seldom_never_waits_for_the_store() -> None:
    """The store hears of it a moment later."""
    clock = Clock()
    desk = Desk(clock)
    desk.answers.clear()
    async with shared(clock, desk.spend) as ledger:
        door = Buckets(ledger, "key", rate=100, burst=200)

        async with asyncio.timeout(0.2):
            assert [await door.take("a") for _ in range(10)] == [0] * 10


@pytest.mark.parametrize("trouble", ["away", "hanging"])
async def test_without_the_store_each_process_keeps_the_limit_by_itself(trouble: str) -> None:
    """Nobody is shut out, nobody gets more than one process gives, and nobody waits for long."""
    clock = Clock()
    desk = Desk(clock)
    async with shared(clock, desk.spend) as ledger:
        door = Buckets(ledger, "key", rate=10, burst=32)
        if trouble == "away":
            desk.is_away = True
        else:
            desk.answers.clear()

        async with asyncio.timeout(5):
            assert [await door.take("a") for _ in range(32)] == [0] * 32
        assert await door.take("a") > 0


async def test_what_time_has_paid_is_not_owed_when_the_store_is_back() -> None:
    """An hour without it must not shut the door for an hour."""
    clock = Clock()
    desk = Desk(clock)
    desk.is_away = True
    async with shared(clock, desk.spend) as ledger:
        door = Buckets(ledger, "key", rate=10, burst=20)
        for _ in range(360):
            assert await door.take("a") == 0
            clock.now += 10
        desk.is_away = False
        clock.now += 2
        await ledger.catch_up()

        assert [await door.take("a") for _ in range(19)] == [0] * 19
