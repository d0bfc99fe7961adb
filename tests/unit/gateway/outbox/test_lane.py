"""A lane: everything that is added is done, and what takes long holds up nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter

from gateway.outbox.lane import Lane
from tests.unit.gateway.workshop import until


class Desk:
    """Does what it is given, except that some things hang."""

    def __init__(self, *hanging: str) -> None:
        """Let these hang."""
        self.done: list[str] = []
        self.inside: Counter[str] = Counter()
        self.most = 0
        self.hanging = set(hanging)
        self.go_on = asyncio.Event()

    async def do(self, item: str) -> None:
        """Do it, or hang."""
        self.inside[item] += 1
        self.most = max(self.most, self.inside.total())
        if item in self.hanging:
            await self.go_on.wait()
        self.inside[item] -= 1
        self.done.append(item)


async def test_quick_things_are_done_in_order() -> None:
    """By one worker, who then goes."""
    desk = Desk()
    lane = Lane(desk.do, 4)
    for item in "abcdef":
        lane.add(item)
    await until(lambda: not len(lane))

    assert (desk.done, desk.most) == (list("abcdef"), 1)


async def test_what_hangs_holds_up_nothing_else() -> None:
    """Until as many hang as there may be workers."""
    desk = Desk("x", "y", "z")
    lane = Lane(desk.do, 3)
    for item in "axbycz":
        lane.add(item)
    await until(lambda: desk.inside.total() == 3)
    assert desk.done == ["a", "b", "c"]
    lane.add("d")
    await asyncio.sleep(0.01)
    assert (desk.done, len(lane)) == (["a", "b", "c"], 4)
    desk.go_on.set()
    await until(lambda: not len(lane))

    assert (sorted(desk.done), desk.most) == (list("abcdxyz"), 3)


async def test_drain_gives_back_what_was_not_begun_and_cuts_off_what_hangs() -> None:
    """Nothing is left behind."""
    desk = Desk("x")
    lane = Lane(desk.do, 1)
    for item in "xab":
        lane.add(item)
    await until(lambda: desk.inside["x"] == 1)

    assert await lane.drain(0.01) == ["a", "b"]
    assert (len(lane), desk.done) == (0, [])
