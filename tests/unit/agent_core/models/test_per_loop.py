"""One of a thing for each loop."""

from __future__ import annotations

import asyncio
import gc

from agent_core.models.per_loop import PerLoop


class Thing:
    """Notes when, and in which loop, it was closed."""

    def __init__(self) -> None:
        self.closed_in: list[asyncio.AbstractEventLoop] = []

    async def aclose(self) -> None:
        """Note it."""
        self.closed_in.append(asyncio.get_running_loop())


def kept_things() -> tuple[PerLoop[Thing], list[Thing]]:
    """Make a keeper, and a list of what it makes."""
    made: list[Thing] = []

    def make() -> Thing:
        made.append(Thing())
        return made[-1]

    return PerLoop(make), made


def test_each_loop_has_its_own_and_closes_it_at_its_end() -> None:
    """Nobody needs to remember `aclose` around `asyncio.run`."""
    things, made = kept_things()
    loops: list[asyncio.AbstractEventLoop] = []

    async def use() -> None:
        loops.append(asyncio.get_running_loop())
        assert await things.get() is await things.get()

    asyncio.run(use())
    asyncio.run(use())

    assert [thing.closed_in for thing in made] == [[loops[0]], [loops[1]]]


async def test_tasks_of_one_loop_share_it() -> None:
    """Two first uses at once make one thing."""
    things, made = kept_things()

    first, second = await asyncio.gather(things.get(), things.get())

    assert first is second
    assert len(made) == 1


async def test_after_closing_the_next_use_makes_a_new_one() -> None:
    """Closing is not the end, and closing twice does no harm."""
    things, made = kept_things()
    await things.get()
    await things.aclose()
    await things.aclose()
    await things.get()

    assert [len(thing.closed_in) for thing in made] == [1, 0]


async def test_what_nobody_refers_to_is_closed() -> None:
    """A model that is dropped without `aclose` leaves no open connections."""
    things, made = kept_things()
    await things.get()
    del things
    gc.collect()
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert len(made[0].closed_in) == 1
