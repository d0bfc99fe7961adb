"""PostgreSQL is cut off, hangs, restarts, crashes and fails over under two processes at work.

Work goes on by itself; nothing is lost, nothing is done twice, and whoever asks hears the truth.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.doubles.postgres import upgraded
from tests.doubles.postgres_server import PostgresServer, postgres_server
from tests.doubles.wire import Wire, wire
from tests.scenario.gateway.machines import Machines, machines
from tests.scenario.gateway.restless_customer import Restless, Story

CUSTOMERS = 3
PATIENCE = 100.0
HANGING = 2.5
"""Seconds: more than a lease of these machines."""
LINES_A_SECOND = 40
"""In the log, of both processes, at the most: who can't reach the database must not spin."""

pytestmark = pytest.mark.timeout(PATIENCE + 60)

_CUT_ALL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_LISTENERS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'parley hints'"


async def _ready(site: Machines, session: aiohttp.ClientSession) -> list[int]:
    """Ask each door whether it is ready."""
    return [await _status(session, f"{door.url}/readyz") for door in site.doors]


async def _status(session: aiohttp.ClientSession, url: str) -> int:
    async with session.get(url) as got:
        return got.status


class Siege:
    """The faults, one after the other; after each the house must come to itself."""

    def __init__(self, site: Machines, line: Wire, session: aiohttp.ClientSession) -> None:
        self.site, self.line, self.session = site, line, session

    async def cut(self) -> None:
        """End every connection, as an administrator does."""
        await self.site.rows(_CUT_ALL)

    async def reset(self) -> None:
        """Reset every connection, as a network does."""
        self.line.reset()

    async def hang(self) -> None:
        """Swallow every byte for a while, and then cut: what was under way never gets an answer."""
        self.line.hang()
        assert await _ready(self.site, self.session) == [503, 503]
        await asyncio.sleep(HANGING)
        self.line.reset()
        self.line.mend()

    async def stop(self, server: PostgresServer, *, crash: bool) -> None:
        """Stop the server, or crash it, and start it again."""
        await asyncio.to_thread(server.stop, "immediate" if crash else "fast")
        assert await _ready(self.site, self.session) == [503, 503]
        await asyncio.to_thread(server.start)

    async def fail_over(self, old: PostgresServer, new: PostgresServer) -> None:
        """Lose the server for good, and promote its standby."""
        await asyncio.to_thread(old.stop, "immediate")
        await asyncio.to_thread(new.promote)
        self.site.database = new.url
        self.line.reset()
        self.line.mend(new.url)

    async def well(self) -> None:
        """Wait until the doors are ready and both processes listen again."""
        async with asyncio.timeout(30):
            while await _ready(self.site, self.session) != [200, 200]:  # noqa: ASYNC110 (nobody tells)
                await asyncio.sleep(0.1)
            while await self.site.rows(_LISTENERS) != [(2,)]:  # noqa: ASYNC110 (nobody tells)
                await asyncio.sleep(0.1)


async def test_work_goes_on_whatever_becomes_of_the_database(tmp_path: Path) -> None:
    """Five kinds of loss, with customers who launch, answer, pause and cancel all the while."""
    chance = random.Random(11)  # noqa: S311
    async with _house(tmp_path, chance) as (site, line, server, standby):
        async with aiohttp.ClientSession() as session, asyncio.timeout(PATIENCE):
            customer = Restless(site, session, chance=chance)
            siege = Siege(site, line, session)
            over, told = asyncio.Event(), list[Story]()
            start = asyncio.get_running_loop().time()
            async with asyncio.TaskGroup() as tasks:
                for number in range(CUSTOMERS):
                    tasks.create_task(_go_on(customer, f"c{number}", over, told))
                for fault in (siege.cut, siege.reset, siege.hang):
                    await fault()
                    await siege.well()
                for crash in (False, True):
                    await siege.stop(server, crash=crash)
                    await siege.well()
                await siege.fail_over(server, standby)
                await siege.well()
                over.set()
            took = asyncio.get_running_loop().time() - start
            await site.at_rest()
            for story in told:
                await customer.check(story)

        keys = Counter(one.split()[3] for one in site.lines("ledger.txt"))
        assert set(keys.values()) == {1}
        assert await site.rows("SELECT count(*) FROM threads") == [(len(told),)]
        assert Counter(story.status for story in told)["finished"] >= CUSTOMERS
        assert len(site.log.splitlines()) < LINES_A_SECOND * took, site.log


async def _go_on(customer: Restless, name: str, over: asyncio.Event, told: list[Story]) -> None:
    number = 0
    while not over.is_set():
        told.append(await customer.tell(f"order-{name}-{number}"))
        number += 1


@asynccontextmanager
async def _house(
    folder: Path, chance: random.Random
) -> AsyncIterator[tuple[Machines, Wire, PostgresServer, PostgresServer]]:
    """Start a server with a standby, and two processes that reach it over a wire."""
    with postgres_server() as server, server.standby() as standby:
        await upgraded(server.url)
        async with (
            wire(server.url) as line,
            machines(
                folder / "shared",
                ["all", "all"],
                chance,
                database=server.url,
                seen_as=line.url,
            ) as site,
        ):
            await asyncio.gather(*(door.ready() for door in site.doors))
            yield site, line, server, standby
