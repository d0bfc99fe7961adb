"""`kill -9` at any moment: nothing that was acknowledged is lost, nothing approved is run twice.

The real server on SQLite, over real HTTP. It dies at every commit boundary of a story, around its
other writes, and is started again; the customer goes on. Kills at random under load: tests/ordeal.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import aiohttp
import pytest

from tests.scenario.gateway.killable_server import KillableServer, killable_server
from tests.scenario.gateway.stubborn_customer import Customer, Promises, at_rest, until

pytestmark = pytest.mark.timeout(180)

LONGEST_STORY = 60
PATIENCE = 60.0
THREADS = "SELECT count(*) FROM threads"


async def story(server: KillableServer, session: aiohttp.ClientSession, order: str) -> Promises:
    """Tell one story to its end, whatever happens to the server, and check it."""
    customer = Customer(server, session)
    async with asyncio.timeout(PATIENCE):
        made = await customer.tell(order)
        await at_rest(server)
        await customer.check(order, made)
    return made


async def survives(
    server: KillableServer, failpoint: str, *, apart: bool = False
) -> tuple[Promises, bool]:
    """Tell a story to a server that dies at a point; tell whether it got that far."""
    order = f"order-{failpoint.replace(':', '-')}"
    [(threads,)] = server.rows(THREADS)
    await server.start(failpoint, apart=apart)
    async with aiohttp.ClientSession() as session:
        telling = asyncio.create_task(story(server, session, order))
        ending = asyncio.create_task(server.ended())
        await asyncio.wait({telling, ending}, return_when=asyncio.FIRST_COMPLETED)
        died = ending.done()
        if died:
            assert ending.result() == -signal.SIGKILL, server.log
            await server.start(apart=apart)
            ending = asyncio.create_task(server.ended())
        made = await telling
        os.kill(server.pid, signal.SIGTERM)
        assert await ending == 0, server.log
    assert server.rows(THREADS) == [(threads + 1,)]
    return made, died


async def sweep(folder: Path, operation: str, side: str) -> list[Promises]:
    """Kill at the first call of an operation, the second, …, until a story has no more of them."""
    told: list[Promises] = []
    async with killable_server(folder) as server:
        for number in range(1, LONGEST_STORY):
            made, died = await survives(server, f"{operation}:{side}:{number}")
            if not died:
                return told
            told.append(made)
    raise AssertionError(f"a story with more than {LONGEST_STORY} times {operation}")


def said_of_cut_off_calls(told: Iterable[Promises]) -> Counter[str]:
    """Count what the customers had to say about calls that a kill had cut off."""
    answers = [answer for made in told for answer in made.answers.values()]
    return Counter(answer for answer in answers if answer in ("it_happened", "run_again"))


async def test_a_kill_at_any_commit_of_a_story_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Before and after each commit: launch, message, model, question, answer, tool, end."""
    before, after = await asyncio.gather(
        sweep(tmp_path / "before", "commit", "before"),
        sweep(tmp_path / "after", "commit", "after"),
    )

    print(f"{len(before)} + {len(after)} kills")  # noqa: T201
    assert min(len(before), len(after)) >= 12


async def test_a_kill_around_a_tool_tells_what_it_had_done(tmp_path: Path) -> None:
    """Before its result was committed, each tool had run; after its start was, none had."""
    async with killable_server(tmp_path / "tools") as server:
        before = [await survives(server, f"commit:before:{n}:ToolReturned") for n in (1, 2)]
        # The first start is contact_human's, which asks anew without a question: no harm in it.
        after = [await survives(server, f"commit:after:{n}:ToolStarted") for n in (2, 3)]

    assert all(died for _, died in (*before, *after))
    assert said_of_cut_off_calls(made for made, _ in before)["it_happened"] >= 2
    assert said_of_cut_off_calls(made for made, _ in after)["run_again"] >= 2


async def test_a_kill_around_any_other_write_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Claims and the outbox: a lease of the dead runs out, a delivery is sent again.

    Nothing is handed over in the process, or it would claim next to nothing.
    """
    others = ["claim", "claim_deliveries", "end_deliveries"]

    async def kills(side: str) -> int:
        async with killable_server(tmp_path / side) as server:
            for operation in others:
                for number in (1, 2, 3):
                    failpoint = f"{operation}:{side}:{number}"
                    _, died = await survives(server, failpoint, apart=True)
                    assert died, (operation, number)
            return server.kills

    assert sum(await asyncio.gather(kills("before"), kills("after"))) == 18


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_kill_around_a_release_loses_nothing(tmp_path: Path, side: str) -> None:
    """A halt in the middle of a model call: the lease is given back by itself, with no commit."""
    async with killable_server(tmp_path / "s") as server, aiohttp.ClientSession() as session:
        customer = Customer(server, session)
        slow = server.folder / "slow"
        slow.touch()
        await server.start(f"release:{side}:1")
        ending = asyncio.create_task(server.ended())
        path = await launched(customer, "thinker")
        await written(server, "model.txt")
        halting = asyncio.create_task(customer.call("PUT", "/v1/halt", {"reason": "fire"}))
        assert await ending == -signal.SIGKILL, server.log
        slow.unlink()
        await server.start()
        await halting
        await customer.call("DELETE", "/v1/halt")

        assert await finished(customer, path) == "thought"
        assert len(server.lines("model.txt")) == 2


@pytest.mark.parametrize(
    "failpoint",
    [
        "commit",
        "commit:before",
        "commit:during:1",
        "load:before:1",
        "commit:after:0",
        "commit:after:1:Nothing",
        "claim:after:1:ToolStarted",
    ],
)
async def test_a_failpoint_that_means_nothing_refuses_to_start(
    tmp_path: Path, failpoint: str
) -> None:
    """A test that would never be killed must not pass for one that survived."""
    async with killable_server(tmp_path / "refused") as server:
        await server.start(failpoint)

        assert await server.ended() == 2
        assert "PARLEY_FAILPOINT can't be used" in server.log


# --- SIGTERM --------------------------------------------------------------------------------------

HELD = "SELECT id FROM threads WHERE lease_until > 0"
HELD_DELIVERIES = "SELECT id FROM deliveries WHERE status = 'pending' AND lease_until > 0"
TAKEN_OVER_WITHIN = 10.0
"""Seconds: a lease that was not given back would last 30."""


async def launched(customer: Customer, agent: str) -> str:
    """Launch a thread, and give its path."""
    body = {"agent": agent, "text": "order-1"}
    thread = await customer.call("POST", "/v1/threads", body, key=agent)
    return f"/v1/threads/{thread['id']}"


async def written(server: KillableServer, name: str) -> None:
    """Wait until a tool or a model is at work."""
    await until(lambda: bool(server.lines(name)))


async def finished(customer: Customer, path: str) -> str:
    """Wait for a thread's end, for less time than a lease lasts."""
    async with asyncio.timeout(TAKEN_OVER_WITHIN):
        while (thread := await customer.call("GET", f"{path}?wait=5"))["status"] != "finished":
            pass
    return str(thread["result"])


async def test_sigterm_lets_a_tool_end_and_gives_the_thread_back(tmp_path: Path) -> None:
    """A tool that must not be stopped runs to its end, once; the next process goes on at once."""
    async with killable_server(tmp_path / "s") as server, aiohttp.ClientSession() as session:
        customer = Customer(server, session)
        await server.start(lease_ms=0)
        path = await launched(customer, "depot")
        await written(server, "ledger.txt")
        began = time.monotonic()

        assert await server.stop(signal.SIGTERM) == 0, server.log

        assert time.monotonic() - began < 25
        assert [line.split()[0] for line in server.lines("ledger.txt")] == ["begin", "end"]
        assert server.rows(HELD) == []
        await server.start(lease_ms=0)
        assert await finished(customer, path) == "shipped"
        assert len(server.lines("ledger.txt")) == 2


async def test_sigterm_cuts_a_model_call_short_and_it_is_made_again(tmp_path: Path) -> None:
    """Nobody waits for a model that takes a minute: the next process asks it again."""
    async with killable_server(tmp_path / "s") as server, aiohttp.ClientSession() as session:
        customer = Customer(server, session)
        slow = server.folder / "slow"
        slow.touch()
        await server.start(lease_ms=0)
        path = await launched(customer, "thinker")
        await written(server, "model.txt")
        began = time.monotonic()

        assert await server.stop(signal.SIGTERM) == 0, server.log

        assert time.monotonic() - began < 5
        assert server.rows(HELD) == []
        slow.unlink()
        await server.start(lease_ms=0)
        assert await finished(customer, path) == "thought"
        assert len(server.lines("model.txt")) == 2


async def test_sigterm_under_load_leaves_nothing_held(tmp_path: Path) -> None:
    """Whatever it was doing, a server that ends in order holds no thread and no delivery."""
    async with (
        killable_server(tmp_path / "s", pause=0.02) as server,
        aiohttp.ClientSession() as session,
    ):
        await server.start(lease_ms=0)
        async with asyncio.TaskGroup() as tasks:
            stories = [
                tasks.create_task(Customer(server, session).tell(f"order-{number}"))
                for number in range(60)
            ]
            for _ in range(6):
                await server.ready()
                await asyncio.sleep(0.15)  # some way into the stories

                assert await server.stop(signal.SIGTERM) == 0, server.log

                assert server.rows(HELD) == []
                assert server.rows(HELD_DELIVERIES) == []
                await server.start(lease_ms=0)
            async with asyncio.timeout(TAKEN_OVER_WITHIN):
                await asyncio.wait(stories)
        assert said_of_cut_off_calls(one.result() for one in stories) == {}
