"""Reading: lists, logs, and waiting for what comes, with hints and without."""

from __future__ import annotations

import asyncio

from agent_core import Agent, ScriptedModel
from gateway.control.reading import Reading
from storage.memory import MemoryStore
from tests.doubles.stage import Gate, echo
from tests.unit.gateway.workshop import QUICK, workshop


def echoing(gate: Gate | None = None) -> Agent:
    """Make an agent that says what was said last, perhaps when a gate opens."""
    before = gate.stop_here if gate else None
    return Agent("agent", model=ScriptedModel(echo, before_reply=before))


async def test_queued_running_and_finished_are_told_apart() -> None:
    """By whoever holds it: a list finds it under the very word that it is shown with."""
    gate = Gate()
    async with workshop(MemoryStore(), echoing(gate)) as here:

        async def found() -> dict[str, list[str]]:
            words = ("queued", "running", "finished")
            lists = {word: await here.gateway.threads(status=word) for word in words}
            return {word: [one.status for one in lists[word].items] for word in words}

        thread = await here.launch()
        before = await found()
        here.engine()
        await gate.reached()
        meanwhile = await found()
        gate.open()
        await here.rested(thread)
        await here.released(thread)
        after = await found()

    assert before == {"queued": ["queued"], "running": [], "finished": []}
    assert meanwhile == {"queued": [], "running": ["running"], "finished": []}
    assert after == {"queued": [], "running": [], "finished": ["finished"]}


async def test_wait_ends_with_the_hint_not_with_the_poll() -> None:
    """A thread that comes to rest is shown at once."""
    gate = Gate()
    async with workshop(MemoryStore(), echoing(gate)) as here:
        here.engine()
        thread = await here.launch()
        waiting = asyncio.create_task(here.gateway.wait(thread, seconds=60))
        await gate.reached()
        gate.open()
        async with asyncio.timeout(1):
            assert (await waiting).status == "finished"


async def test_wait_is_over_when_its_time_is() -> None:
    """The thread is shown as it is."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()

        assert (await here.gateway.wait(thread, seconds=0)).status == "queued"
        assert (await here.gateway.wait(thread, seconds=0.02)).status == "queued"


async def test_log_is_given_whole_however_long() -> None:
    """In pieces from the store, as one to the caller, and live to a follower."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()
        for number in range(1100):
            await here.gateway.say(thread, str(number), by="lisa")
        log = await here.log(thread)
        piece = await here.gateway.events(thread, after=1000, limit=7)
        followed = []
        async for view in here.gateway.follow(thread, after=2):
            followed.append(view.seq)
            if view.seq == len(log):
                break

    assert len(log) == 1102
    assert [view.seq for view in piece] == list(range(1001, 1008))
    assert followed == list(range(3, 1103))


async def test_follower_hears_of_a_workers_events_at_once() -> None:
    """Without waiting for the poll."""
    async with workshop(MemoryStore(), echoing()) as here:
        here.engine(QUICK)
        thread = await here.launch()
        async with asyncio.timeout(1):
            async for view in here.gateway.follow(thread):
                if view.type == "ThreadFinished":
                    break


async def test_kill_switch_is_shown_with_its_reason() -> None:
    """And who pulled it."""
    async with workshop(MemoryStore(), echoing()) as here:
        gateway: Reading = here.gateway
        before = await gateway.halted()
        await here.gateway.halt("fire", by="otto")
        during = await gateway.halted()
        await here.gateway.lift(by="otto")
        await gateway.ready()

        assert (before.halted, during.halted, during.reason) == (False, True, "fire (otto)")
        assert not (await gateway.halted()).halted
