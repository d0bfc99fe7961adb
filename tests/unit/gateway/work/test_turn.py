"""One worker's turn at a thread, where others move the thread on meanwhile."""

from __future__ import annotations

from agent_core import Agent, ScriptedModel
from agent_core.loop.world import World
from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    ThreadCancelled,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.state import ThreadState
from gateway.shortcuts.nearby import Nearby
from gateway.work.journal import StoreJournal
from gateway.work.threads import commit_outside, read_thread
from gateway.work.turn import Turns
from storage.memory import MemoryStore
from storage.values import NewThread, Snapshot
from tests.doubles.stage import echo
from tests.unit.gateway.workshop import workshop

NOW = Millis(1_000)
T1 = ThreadId("th_1")


async def test_thread_without_an_agent_that_is_cancelled_meanwhile_is_not_failed() -> None:
    """The cancellation came first and stands; the turn ends in order, and the lease is free."""
    store = MemoryStore()
    await store.open()
    launched = ThreadLaunched(at=NOW, thread=T1, agent="agent", origin="web:th_1")
    begun: list[Event] = [launched, MessageReceived(at=NOW, text="hello")]
    new = NewThread(agent="agent")
    await commit_outside(store, ThreadState(), begun, now=NOW, create=new)
    (claim,) = await store.claim(now=NOW, lease_ms=1000, limit=1)
    known = await read_thread(store, T1)
    assert known is not None
    journal = StoreJournal(store, known, claim.epoch, lambda: NOW)
    await commit_outside(store, known.state, [ThreadCancelled(at=NOW)], now=NOW)

    turns = Turns(store, {}, World(), Nearby(), {})
    await turns.bring_to_rest(claim, journal)

    row = await store.thread(T1)
    assert row is not None
    assert (row.status, row.seq, row.lease_until) == ("cancelled", 3, None)


class Album(MemoryStore):
    """A store that counts the snapshots it is given."""

    pictures = 0

    async def save_snapshot(self, thread: ThreadId, snapshot: Snapshot) -> None:
        """Count, and keep."""
        self.pictures += 1
        await super().save_snapshot(thread, snapshot)


async def test_long_thread_gets_one_snapshot_and_not_one_each_turn() -> None:
    """Also where its state is remembered from before the snapshot."""
    store = Album()
    agent = Agent("agent", model=ScriptedModel(echo))
    async with workshop(store, agent) as here:
        thread = await here.launch()
        for _ in range(50):
            await here.gateway.pause(thread, by="lisa")
            await here.gateway.resume(thread, by="lisa")
            await here.gateway.pause(thread, by="lisa")
            await here.gateway.resume(thread, by="lisa", instruction="")
        here.engine(nearby=here.nearby)
        for _ in range(3):
            await here.gateway.say(thread, "more", by="lisa")
            await here.rested(thread)
            await here.released(thread)

    assert store.pictures == 1
