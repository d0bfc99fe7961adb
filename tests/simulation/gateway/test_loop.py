"""The simulation's own loop: what it promises to those who run on it."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from tests.simulation.gateway.loop import Process, SimLoop, Stuck


def make() -> tuple[SimLoop, Process]:
    """Make a loop with one machine on it."""
    loop = SimLoop(Random(1))  # type: ignore[abstract]  # noqa: S311 (no sockets here, and no secrets)
    process = Process("machine")
    loop.begin(process)
    return loop, process


def test_time_passes_only_while_everybody_waits() -> None:
    """A day takes no time, and a time-out comes when it is due."""
    loop, _ = make()

    async def story() -> str:
        await asyncio.sleep(86_400)
        try:
            async with asyncio.timeout(5):
                await asyncio.get_running_loop().create_future()
        except TimeoutError:
            return "late"
        return "never"

    assert (loop.run(story()), loop.time()) == ("late", 86_405)


def test_killed_machine_runs_nothing_any_more() -> None:
    """No `finally`, no `except`: that is what `kill -9` means. Afterwards all is cleared away."""
    loop, process = make()
    told: list[str] = []

    async def serve() -> None:
        try:
            await asyncio.sleep(10)
            told.append("woke")
        finally:
            told.append("finally")

    async def story() -> None:
        loop.start(serve(), process)
        await asyncio.sleep(5)
        loop.kill(process)
        await asyncio.sleep(60)

    loop.run(story())
    before = list(told)
    loop.clear_away()

    assert (before, told) == ([], ["finally"])


def test_fuse_blows_between_two_steps() -> None:
    """After exactly so many, wherever the machine is then."""
    loop, process = make()
    steps: list[int] = []
    process.blow = lambda: loop.kill(process)

    async def serve() -> None:
        for step in range(10):
            steps.append(step)
            await asyncio.sleep(0)

    async def story() -> None:
        loop.start(serve(), process)
        process.fuse = 3
        await asyncio.sleep(1)

    loop.run(story())
    loop.clear_away()

    assert steps == [0, 1, 2]


def test_frozen_machine_finds_all_that_came_meanwhile() -> None:
    """Its timers were due long ago: they come in their order, after it was let go."""
    loop, process = make()
    told: list[tuple[int, float]] = []

    async def serve(seconds: int) -> None:
        await asyncio.sleep(seconds)
        told.append((seconds, loop.time()))

    async def story() -> None:
        for seconds in (3, 1, 2):
            loop.start(serve(seconds), process)
        await asyncio.sleep(0.5)
        process.is_frozen = True
        await asyncio.sleep(29.5)
        process.is_frozen = False
        await asyncio.sleep(1)

    loop.run(story())

    assert told == [(1, 30), (2, 30), (3, 30)]


def test_story_that_nobody_can_end_is_stuck() -> None:
    """Better than to wait for ever."""
    loop, _ = make()

    async def story() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Stuck):
        loop.run(story())
    loop.clear_away()


def test_what_goes_wrong_unheard_is_kept() -> None:
    """A task that nobody waits for can't fail in silence."""
    loop, process = make()

    async def serve() -> None:
        raise ValueError("oh")

    async def story() -> None:
        loop.start(serve(), process)
        await asyncio.sleep(1)

    loop.run(story())

    assert ["oh" in one for one in loop.complaints] == [True]
