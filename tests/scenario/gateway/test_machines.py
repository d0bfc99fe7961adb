"""Several machines on one PostgreSQL, killed at random: nothing lost, nothing repeated.

They hand threads and deliveries over within a process, by the queue between processes, and by
leases that run out after a kill. `SWARM_SECONDS=60` goes on for longer, `SWARM_SEED` repeats.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path

import aiohttp
import pytest

from tests.scenario.gateway.machines import Machines, machines
from tests.scenario.gateway.restless_customer import Restless, Story

SECONDS = float(os.environ.get("SWARM_SECONDS", "5"))
CUSTOMERS = 8
PATIENCE = 60.0
"""Seconds for what is under way at the end, with several leases of the dead before it."""

pytestmark = pytest.mark.timeout(SECONDS + PATIENCE + 60)


@pytest.mark.parametrize("roles", ["web worker worker", "all all worker"])
async def test_machines_that_are_killed_at_random_lose_and_repeat_nothing(
    tmp_path: Path, roles: str
) -> None:
    """Each acknowledged message counts once, each question ends once, each approved call runs once.

    Customers launch, answer twice at once, hold, let go and cancel all the while.
    """
    seed = int(os.environ.get("SWARM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"SWARM_SEED={seed}")  # noqa: T201
    chance = random.Random(seed)  # noqa: S311
    async with (
        machines(tmp_path / "shared", roles.split(), chance) as site,
        aiohttp.ClientSession() as session,
        asyncio.timeout(SECONDS + PATIENCE),
    ):
        customer = Restless(site, session, chance=chance)
        stories, kills = await _busy(site, customer, chance)
        await site.at_rest()
        for story in stories:
            await customer.check(story)
        keys = Counter(line.split()[3] for line in site.lines("ledger.txt"))
        assert set(keys.values()) == {1}
        assert await site.rows("SELECT count(*) FROM threads") == [(len(stories),)]
        ends = Counter(story.status for story in stories)
        print(f"{ends}, {kills} kills, {customer.lost} lost connections")  # noqa: T201
        assert ends["finished"] > 0


async def _busy(
    site: Machines, customer: Restless, chance: random.Random
) -> tuple[list[Story], int]:
    """Tell stories and kill machines for a while; give the stories, and count the kills."""
    over = asyncio.Event()
    told: list[Story] = []
    kills = 0

    async def go_on(name: str) -> None:
        number = 0
        while not over.is_set():
            told.append(await customer.tell(f"order-{name}-{number}"))
            number += 1

    async with asyncio.TaskGroup() as tasks:
        for number in range(CUSTOMERS):
            tasks.create_task(go_on(f"c{number}"))
        end = asyncio.get_running_loop().time() + SECONDS
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(chance.uniform(0.4, 1.6))
            await site.kill_one()
            kills += 1
        over.set()
    return told, kills
