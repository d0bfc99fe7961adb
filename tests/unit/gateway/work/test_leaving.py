"""Two versions at once: what older code can't read, it leaves to newer code."""

from __future__ import annotations

import pytest

from agent_core import Agent, ScriptedModel, says
from agent_core.errors import ImpossibleEvent
from agent_core.thread.events import Millis, ThreadId
from gateway.work.leaving import Left
from storage.errors import Unreadable
from storage.memory import MemoryStore, MemoryTables
from storage.values import Loaded
from tests.unit.gateway.workshop import ShakyStore, until, workshop

AGENT = Agent("agent", model=ScriptedModel(lambda _request: says("done")))


class OldStore(ShakyStore):
    """The store of a process that has never heard of what stands in the log."""

    trouble: Exception = Unreadable("it is newer")

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Find what can't be read."""
        await super().load(thread, after=after)
        raise self.trouble


@pytest.mark.parametrize("trouble", [Unreadable("it is newer"), ImpossibleEvent("not yet")])
async def test_thread_that_cannot_be_read_is_left_to_others(trouble: Exception) -> None:
    """It does not fail, nothing is written, the lease is given back, and nobody spins."""
    tables = MemoryTables()
    old = OldStore(tables)
    old.trouble = trouble
    async with workshop(MemoryStore(tables), AGENT) as house:
        thread = await house.launch()
        await old.open()
        house.engine(store=old)
        await until(lambda: old.asked["claim"] > 5)
        before = await house.released(thread)
        assert (before.status, before.seq, old.asked["load"]) == ("running", 2, 1)

        house.engine()

        assert (await house.rested(thread)).status == "finished"
        assert old.asked["load"] == 1
        await old.close()


def test_thread_is_left_for_a_minute() -> None:
    """Then it is looked at again: the log may have been repaired, or the code replaced."""
    now = [0]
    left = Left(lambda: Millis(now[0]))
    left.add(ThreadId("a"))
    now[0] = 59_999
    assert list(left.threads()) == ["a"]
    left.add(ThreadId("b"))
    now[0] = 60_000

    assert list(left.threads()) == ["b"]


def test_what_is_left_does_not_fill_the_memory() -> None:
    """A whole flood of new threads: the oldest is looked at again."""
    left = Left(lambda: Millis(0))
    for number in range(1001):
        left.add(ThreadId(str(number)))

    assert len(left.threads()) == 1000
    assert "0" not in left.threads()
