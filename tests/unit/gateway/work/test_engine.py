"""The engine: many threads at once and one worker for each, whatever happens to its leases."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core import Agent, ScriptedModel, Tool, ToolContext, call, calls, says, tool
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadId, ToolReturned
from agent_core.thread.fold import fold
from gateway.work.threads import read_thread
from storage.memory import MemoryStore
from storage.memory.tables import MemoryTables
from storage.sqlite import SqliteStore
from storage.store import Store
from storage.values import Claim, Commit, CommitResult, Loaded, Snapshot
from tests.doubles.stage import Gate, echo, said_to
from tests.unit.gateway.workshop import NO_HURRY, QUICK, ShakyStore, stop, until, workshop

SHORT = replace(QUICK, lease_ms=90)
PATIENT = replace(QUICK, poll_seconds=NO_HURRY)


def calling(one: Tool, times: int = 1) -> Agent:
    """Make an agent that calls a tool so many times, in turns of their own."""
    script = [*(calls(call(one.name)) for _ in range(times)), says("done")]
    return Agent("agent", tools=[one], model=ScriptedModel([*script, says("more")]))


class Counting:
    """A tool that counts who is in it, in all and for each thread."""

    def __init__(self, *, idempotent: bool = True) -> None:
        """Begin with nobody."""
        self.inside: Counter[str] = Counter()
        self.most = self.most_of_one = 0
        self.runs: Counter[str] = Counter()
        self.cut_off = asyncio.Event()
        self.gate = Gate()

        @tool(idempotent=idempotent)
        async def work(ctx: ToolContext) -> str:
            """Work."""
            return await self._work(ctx.thread.id)

        self.tool = work

    async def _work(self, thread: str) -> str:
        self.inside[thread] += 1
        self.runs[thread] += 1
        self.most = max(self.most, self.inside.total())
        self.most_of_one = max(self.most_of_one, *self.inside.values())
        try:
            await self.gate.stop_here()
        except asyncio.CancelledError:
            self.cut_off.set()
            raise
        finally:
            self.inside[thread] -= 1
        return "worked"


# --- many at once, one at a time each -------------------------------------------------------------


async def test_many_threads_run_at_once_but_each_has_one_worker() -> None:
    """Two engines on one store share the work; messages meanwhile start no second run."""
    work = Counting()
    tables = MemoryTables()
    async with workshop(MemoryStore(tables), calling(work.tool, times=2)) as here:
        beside = MemoryStore(tables)
        await beside.open()
        here.engine()
        here.engine(store=beside)
        threads = [await here.launch() for _ in range(40)]
        await until(lambda: work.most == 32)  # both are full
        for thread in threads:
            await here.gateway.say(thread, "more", by="lisa")
        work.gate.open()
        views = [await here.rested(thread) for thread in threads]
        await beside.close()

    assert {view.status for view in views} == {"finished"}
    assert (work.most, work.most_of_one) == (32, 1)
    assert {work.runs[thread] for thread in threads} == {2}


async def test_full_engine_takes_more_when_one_is_done() -> None:
    """With room for one, ten are done one after the other, without waiting for a poll."""
    work = Counting()
    work.gate.open()
    async with workshop(MemoryStore(), calling(work.tool)) as here:
        here.engine(replace(PATIENT, at_once=1))
        threads = [await here.launch() for _ in range(10)]
        for thread in threads:
            assert (await here.rested(thread)).status == "finished"

    assert work.most == 1


# --- leases ---------------------------------------------------------------------------------------


async def test_lease_is_renewed_while_a_long_tool_runs() -> None:
    """Nobody takes the thread away, however much longer than a lease the tool takes."""
    work = Counting(idempotent=False)
    store = ShakyStore()
    async with workshop(store, calling(work.tool)) as here:
        here.engine(SHORT)
        here.engine(SHORT)
        thread = await here.launch()
        await work.gate.reached()
        await store.asked_again("renew", 10)
        work.gate.open()
        view = await here.rested(thread)

    assert (view.status, work.runs[thread]) == ("finished", 1)


@pytest.mark.parametrize("thaws", [True, False])
async def test_lost_lease_stops_the_run_and_refuses_its_writes(*, thaws: bool) -> None:
    """A frozen machine's thread goes on elsewhere; what the frozen one still does is not kept."""
    work = Counting(idempotent=False)
    tables = MemoryTables()
    async with workshop(MemoryStore(tables), calling(work.tool)) as here:
        ice = ShakyStore(tables)
        await ice.open()
        frozen = here.engine(SHORT, store=ice)
        thread = await here.launch()
        await work.gate.reached()
        ice.frozen |= {"renew", "claim"}
        here.engine(SHORT)
        view = await here.rested(thread)
        assert [one.kind for one in view.questions] == ["choice"], "asked what became of it"
        if thaws:
            ice.frozen.clear()
            async with asyncio.timeout(10):
                await work.cut_off.wait()
        else:
            work.gate.open()
            await ice.asked_again("commit work", 1)
        await here.gateway.answer(view.questions[0].id, "it_happened", by="otto")
        done = await here.rested(thread)
        log = await here.log(thread)
        ice.frozen.clear()
        await stop(frozen.task)
        await ice.close()

    assert (done.status, work.runs[thread]) == ("finished", 1)
    assert not [event for event in log if isinstance(event, ToolReturned)]


async def test_machine_that_slept_goes_on_with_its_tools() -> None:
    """Its leases ran out meanwhile, but nobody has taken them: it renews before it claims."""
    slept = 0
    gate = Gate()
    runs = 0

    @tool
    async def work() -> str:
        """Work."""
        nonlocal runs
        runs += 1
        await gate.stop_here()
        return "worked"

    plain = World()
    world = World(now=lambda: Millis(plain.now() + slept))
    store = ShakyStore()
    model = ScriptedModel([calls(call("work")), says("done")])
    agent = Agent("agent", tools=[work], model=model)
    async with workshop(store, agent, world=world) as here:
        here.engine(replace(QUICK, lease_ms=60_000))
        thread = await here.launch()
        await gate.reached()
        slept = 100_000
        await store.asked_again("claim", 3)
        gate.open()
        view = await here.rested(thread)

    assert (view.result, runs) == ("done", 1)


async def test_engine_that_takes_its_own_thread_again_ends_the_old_run_first() -> None:
    """Its renewals failed and the lease ran out: the thread is due, and this engine claims it."""
    work = Counting()
    store = ShakyStore()
    async with workshop(store, calling(work.tool)) as here:
        here.engine(SHORT)
        thread = await here.launch()
        await work.gate.reached()
        store.frozen.add("renew")
        await until(lambda: work.runs[thread] == 2)
        assert work.cut_off.is_set()
        store.frozen.clear()
        await store.asked_again("renew", 4)
        work.gate.open()
        view = await here.rested(thread)

    assert (view.status, work.most_of_one) == ("finished", 1)


# --- a store that fails ---------------------------------------------------------------------------


BUSY = ["claim", "renew", "load", "commit work", "release", "halted"]
BROKEN = ["load", "commit work", "release"]
"""Where a bug of ours concerns one thread; elsewhere it stops the server, which says so."""


@pytest.mark.parametrize(
    ("method", "error"),
    [*((name, None) for name in BUSY), *((name, RuntimeError("our bug")) for name in BROKEN)],
)
async def test_store_that_fails_does_not_end_the_engine(
    method: str, error: Exception | None
) -> None:
    """What failed is tried again when the lease has run out; the others go on."""
    store = ShakyStore()
    if error is not None:
        store.error = lambda: error
    async with workshop(store, Agent("agent", model=ScriptedModel(echo)), deaf=True) as here:
        engine = here.engine(replace(SHORT, lease_ms=60))
        first = await here.launch("first")
        await here.rested(first)
        store.failures[method] = 3
        threads = [await here.launch(f"text {number}") for number in range(5)]
        views = [await here.rested(thread) for thread in threads]
        rows = [await here.released(thread) for thread in threads]
        assert not engine.task.done()

    assert [view.result for view in views] == [f"you said text {number}" for number in range(5)]
    assert {row.wake_at for row in rows} == {None}


# --- the end --------------------------------------------------------------------------------------


async def test_drain_lets_tools_end_drops_model_calls_and_gives_leases_back() -> None:
    """Whoever starts next goes on at once, with nothing done twice."""
    work, thinking = Counting(idempotent=False), Gate()
    model = ScriptedModel([says("thought")], before_reply=thinking.stop_here)
    agents = [calling(work.tool), Agent("thinker", model=model)]
    async with workshop(MemoryStore(), *agents) as here:
        engine = here.engine(replace(PATIENT, lease_ms=60_000))
        one, two = await here.launch(), await here.launch(agent="thinker")
        await asyncio.gather(work.gate.reached(), thinking.reached())
        engine.task.cancel()
        row = await here.released(two)
        assert not engine.task.done(), "the tool can't be stopped"
        work.gate.open()
        async with asyncio.timeout(10):
            await asyncio.wait([engine.task])
        rows = [row, await here.released(one)]
        left_at = await here.names(one)
        thinking.open()
        here.engine(replace(PATIENT, lease_ms=60_000))
        views = [await here.rested(one), await here.rested(two)]

    assert all(row.wake_at is not None for row in rows)
    assert left_at[-1] == "ToolReturned", "recorded, and the model was not called any more"
    assert [view.status for view in views] == ["finished", "finished"]
    assert (work.runs[one], len(model.requests)) == (1, 2)


async def test_drain_cuts_off_what_takes_too_long_and_gives_it_back() -> None:
    """Its outcome is unknown then, and the next engine asks at once, not when the lease ends."""
    work = Counting(idempotent=False)
    async with workshop(MemoryStore(), calling(work.tool)) as here:
        options = replace(QUICK, lease_ms=60_000, drain_seconds=0.05)
        engine = here.engine(options)
        thread = await here.launch()
        await work.gate.reached()
        await stop(engine.task)
        row = await here.released(thread)
        here.engine(options)
        view = await here.rested(thread)

    assert work.cut_off.is_set()
    assert row.wake_at is not None
    assert (view.status, len(view.questions), work.runs[thread]) == ("waiting", 1, 1)


# --- halt, and hints that are lost ----------------------------------------------------------------


async def test_halted_engine_claims_nothing() -> None:
    """Also one that starts while the switch is pulled; lifted, it goes on without a poll."""
    store = ShakyStore()
    async with workshop(store, Agent("agent", model=ScriptedModel(echo))) as here:
        await here.gateway.halt("fire", by="lisa")
        here.engine(replace(PATIENT, lease_ms=90))
        thread = await here.launch()
        await store.asked_again("halted", 2)
        assert (store.asked["claim"], (await here.gateway.thread(thread)).status) == (0, "queued")
        await here.gateway.lift(by="lisa")

        assert (await here.rested(thread)).status == "finished"


async def test_lost_hints_only_make_it_slower() -> None:
    """The poll finds launches and lifts; the renewal of leases finds pauses."""
    thinking = Gate()
    model = ScriptedModel([says("thought")], before_reply=thinking.stop_here)
    async with workshop(MemoryStore(), Agent("agent", model=model), deaf=True) as here:
        here.engine(replace(SHORT, lease_ms=60))
        thread = await here.launch()
        await thinking.reached()
        await here.gateway.pause(thread, by="lisa")
        await here.released(thread)
        assert len(model.requests) == 1
        await here.gateway.resume(thread, by="lisa")
        thinking.open()

        assert (await here.rested(thread)).status == "finished"


async def test_lost_halt_is_found_at_the_next_renewal() -> None:
    """A busy engine never polls, so the renewal looks at the kill switch too."""
    thinking = Gate()
    model = ScriptedModel([says("thought")], before_reply=thinking.stop_here)
    async with workshop(MemoryStore(), Agent("agent", model=model), deaf=True) as here:
        thread = await here.launch()
        here.engine(replace(PATIENT, lease_ms=60))
        await thinking.reached()
        await here.gateway.halt("fire", by="lisa")
        row = await here.released(thread)

    assert (row.wake_at is not None, row.status) == (True, "running")


class LastMoment(MemoryStore):
    """A store where something comes in the very moment before or after a lease is given back."""

    def __init__(self, side: str) -> None:
        """Begin with nothing to come."""
        super().__init__()
        self.side = side
        self.coming: Callable[[ThreadId], Awaitable[object]] | None = None

    async def _come(self, side: str, thread: ThreadId) -> None:
        if self.coming is not None and side == self.side:
            coming, self.coming = self.coming, None
            await coming(thread)

    async def commit(self, commit: Commit) -> CommitResult:
        """Let it come around a commit that releases."""
        if not commit.release:
            return await super().commit(commit)
        await self._come("before", commit.thread)
        done = await super().commit(commit)
        await self._come("after", commit.thread)
        return done

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Let it come around a release."""
        await self._come("before", claim.thread)
        done = await super().release(claim, handled_seq=handled_seq, wake_at=wake_at)
        await self._come("after", claim.thread)
        return done


@pytest.mark.parametrize("side", ["before", "after"])
async def test_message_of_the_last_moment_is_taken_up_at_once(side: str) -> None:
    """The commit that lets go finds that the log has grown; no poll is needed to come back."""
    store, model = LastMoment(side), ScriptedModel(echo)
    async with workshop(store, Agent("agent", model=model)) as here:
        store.coming = lambda thread: here.gateway.say(thread, "wait!", by="lisa")
        here.engine(PATIENT)
        thread = await here.launch()
        await until(lambda: len(model.requests) == 2)
        view = await here.rested(thread)

    assert view.result == "you said wait!"


@pytest.mark.parametrize("side", ["before", "after"])
async def test_lease_of_a_thread_without_an_agent_is_given_back_as_carefully(side: str) -> None:
    """Nobody runs it; a message of the last moment is still looked at at once."""
    store = LastMoment(side)
    async with workshop(store, Agent("agent", model=ScriptedModel(echo))) as here:
        store.coming = lambda thread: here.gateway.say(thread, "wait!", by="lisa")
        thread = await here.launch()
        here.agents.clear()
        here.engine(PATIENT)
        failures = 0
        async with asyncio.timeout(10):
            async for event in here.gateway.follow(thread):
                failures += event.type == "ThreadFailed"
                if failures == 2:
                    break

    assert failures == 2


class SlowToRead(MemoryStore):
    """A store whose first read of a thread takes until a gate opens."""

    def __init__(self) -> None:
        """Begin with the gate shut."""
        super().__init__()
        self.gate = Gate()
        self.slow = False

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Read first, and give it late: what comes meanwhile is not in it."""
        loaded = await super().load(thread, after=after)
        if self.slow:
            self.slow = False
            await self.gate.stop_here()
        return loaded


async def test_pause_that_comes_while_a_worker_reads_is_not_overheard() -> None:
    """The hint came before there was a journal to hear it: no renewal is needed to find it."""
    store, thinking = SlowToRead(), Gate()
    model = ScriptedModel([says("thought")], before_reply=thinking.stop_here)
    async with workshop(store, Agent("agent", model=model)) as here:
        thread = await here.launch()
        store.slow = True
        here.engine(replace(PATIENT, lease_ms=60_000))
        await store.gate.reached()
        await here.gateway.pause(thread, by="lisa")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        store.gate.open()
        row = await here.released(thread)

    assert (row.status, model.requests) == ("paused", [])


# --- snapshots ------------------------------------------------------------------------------------

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "parley.db"),
}


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("readable", [True, False])
async def test_long_thread_goes_on_from_its_snapshot_as_from_its_log(
    kind: str, tmp_path: Path, *, readable: bool
) -> None:
    """What is loaded equals the sum of all events; one that can't be read is passed over."""
    model = ScriptedModel(echo)
    async with workshop(STORES[kind](tmp_path), Agent("agent", model=model)) as here:
        here.engine()
        thread = await here.launch("message 0")
        await here.rested(thread)
        for number in range(1, 80):
            await here.gateway.say(thread, f"message {number}", by="lisa")
            await here.rested(thread)
        await here.released(thread)
        loaded = await here.store.load(thread)
        assert loaded is not None
        assert loaded.snapshot is not None
        assert len(loaded.events) < 200 <= loaded.snapshot.seq
        if not readable:
            seq = (await here.released(thread)).seq
            await here.store.save_snapshot(thread, Snapshot(seq, b'{"calls": 7}'))
        found = await read_thread(here.store, thread)
        whole = fold(await here.log(thread))
        await here.gateway.say(thread, "the last", by="lisa")
        view = await here.rested(thread)

    assert found is not None
    assert found.state == whole
    assert view.result == "you said the last"
    said = [text for role, text in said_to(model.requests[-1]) if role == "user"]
    assert said == [*(f"message {number}" for number in range(80)), "the last"]
