"""From intake to the engine beside it: leased and folded, and nothing lost where that fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from aiohttp.web_protocol import RequestHandler

from agent_core import Agent, ScriptedModel, ToolContext, Waiting, call, calls, says, tool
from agent_core.errors import AlreadySettled
from agent_core.thread.events import Millis, ThreadId
from gateway.control.keys import new_key
from gateway.control.local import LocalGateway
from gateway.control.views import Launch
from gateway.http.app import make_app, run_app
from gateway.http.connections import DeadlineRunner
from gateway.http.options import HttpOptions
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import EngineOptions
from storage.memory import MemoryStore
from storage.memory.tables import MemoryTables
from storage.values import Commit, CommitResult, Wish
from tests.doubles.stage import Gate, echo
from tests.unit.gateway.logs_of_threads import pay
from tests.unit.gateway.workshop import (
    NO_HURRY,
    QUICK,
    Machine,
    ShakyStore,
    Workshop,
    stop,
    until,
    workshop,
)

PATIENT = replace(QUICK, poll_seconds=NO_HURRY)
YES = {"approved": True}
HELLO = Launch(agent="agent", text="hello")


def paying() -> Agent:
    """Make an agent that asks for leave."""
    model = ScriptedModel([calls(call("pay", amount=1)), says("done")])
    return Agent("agent", tools=[pay], model=model)


def echoing(gate: Gate | None = None) -> Agent:
    """Make an agent that says what was said last, perhaps when a gate opens."""
    before = gate.stop_here if gate else None
    return Agent("agent", model=ScriptedModel(echo, before_reply=before))


async def beside(here: Workshop, options: EngineOptions = PATIENT) -> Machine:
    """Start an engine in the same process, and wait until it takes threads."""
    machine = here.engine(options, nearby=here.nearby)
    await until(lambda: bool(here.nearby.engine) and takes(here))
    return machine


def takes(here: Workshop) -> bool:
    """Tell whether the engine of this process would take a thread now."""
    engine = here.nearby.engine
    if engine is None or engine.reserve() is None:
        return False
    engine.unreserve()
    return True


# --- the quick way --------------------------------------------------------------------------------


async def test_cycle_in_one_process_claims_and_loads_nothing() -> None:
    """Launch, question, answer, end: six commits, and what was waited for is read."""
    store = ShakyStore()
    async with workshop(store, paying()) as here:
        await beside(here)
        before = store.asked.copy()
        thread = await here.launch()
        (question,) = (await here.gateway.wait(thread, seconds=10)).questions
        await here.gateway.answer(question.id, YES, by="otto")
        view = await here.gateway.wait(thread, seconds=10)
        asked = store.asked - before
        row = await store.thread(thread)

    assert view.result == "done"
    assert (asked["claim"], asked["load"], asked["release"]) == (0, 0, 0)
    assert (asked["commit"], asked["commit work"]) == (2, 4)
    assert row is not None
    assert (row.lease_until, row.wake_at, row.handled_seq) == (None, None, row.seq)


async def test_launched_thread_is_shown_as_it_is() -> None:
    """It runs already, as a look at it says; without an engine beside it, it is queued."""
    gate = Gate()
    async with workshop(MemoryStore(), echoing(gate)) as here:
        queued, _ = await here.gateway.launch(HELLO, by="lisa")
        await beside(here)
        running, _ = await here.gateway.launch(HELLO, by="lisa")
        looked = await here.gateway.thread(running.id)
        gate.open()

    assert (queued.status, running.status, looked) == ("queued", "running", running)


async def test_thread_at_work_hears_what_comes_to_it() -> None:
    """A message while it runs is seen by the model; the lease stays where it is."""
    gate = Gate()
    store = ShakyStore()
    async with workshop(store, echoing(gate)) as here:
        await beside(here)
        thread = await here.launch()
        await gate.reached()
        await here.gateway.say(thread, "more", by="lisa")
        gate.open()
        view = await here.rested(thread)

    assert view.result == "you said more"


async def test_answer_of_the_very_moment_waits_for_the_end_of_the_run_before() -> None:
    """The lease is free with the last commit, and the old run is not cut off at its end."""
    store = MemoryStore()
    async with workshop(store, paying()) as here:
        await beside(here)
        for _ in range(20):
            thread = await here.launch()
            async with here.hints.watching(thread) as heard:
                while not (questions := (await here.gateway.thread(thread)).questions):
                    await heard.wait()
                    heard.clear()
            await here.gateway.answer(questions[0].id, YES, by="otto")
            assert (await here.gateway.wait(thread, seconds=10)).status == "finished"


async def test_message_takes_no_thread_from_a_run_that_is_late_to_renew() -> None:
    """The machine slept, and the lease ran out: nobody has taken it, and the tool still runs."""
    gate = Gate()
    runs = 0

    @tool
    async def work() -> str:
        """Work."""
        nonlocal runs
        runs += 1
        await gate.stop_here()
        return "worked"

    store = ShakyStore()
    store.frozen.add("renew")
    model = ScriptedModel([calls(call("work")), says("done")])
    async with workshop(store, Agent("agent", tools=[work], model=model)) as here:
        await beside(here, replace(PATIENT, lease_ms=50))
        thread = await here.launch()
        await gate.reached()
        await asyncio.sleep(0.06)  # until the lease has run out: that is an event nobody tells of
        await here.gateway.say(thread, "more", by="lisa")
        gate.open()
        view = await here.rested(thread)

    assert (view.status, view.result, runs) == ("finished", "done", 1)


# --- when it is refused ---------------------------------------------------------------------------


async def test_full_engine_takes_nothing_by_hand() -> None:
    """What is launched meanwhile waits in the queue, in order, and is found there."""
    gate = Gate()
    store = ShakyStore()
    async with workshop(store, echoing(gate)) as here:
        await beside(here, replace(PATIENT, at_once=1))
        threads = [await here.launch()]
        await gate.reached()
        assert not takes(here)
        threads += [await here.launch() for _ in range(3)]
        rows = [await store.thread(thread) for thread in threads]
        gate.open()
        views = [await here.rested(thread) for thread in threads]

    assert [bool(row and row.lease_until) for row in rows] == [True, False, False, False]
    assert {view.status for view in views} == {"finished"}


async def test_many_launches_at_once_never_overfill_the_engine() -> None:
    """A place is kept for each commit under way."""
    inside = most = 0
    go_on = asyncio.Event()

    @tool
    async def work() -> str:
        """Work."""
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await go_on.wait()
        inside -= 1
        return "worked"

    model = ScriptedModel([calls(call("work")), says("done")])
    async with workshop(MemoryStore(), Agent("agent", tools=[work], model=model)) as here:
        await beside(here, replace(PATIENT, at_once=5))
        threads = await asyncio.gather(*(here.launch() for _ in range(20)))
        await until(lambda: inside == 5)
        go_on.set()
        views = [await here.rested(thread) for thread in threads]

    assert most == 5
    assert {view.status for view in views} == {"finished"}


async def test_halted_engine_takes_nothing_by_hand() -> None:
    """And takes up all of it when the halt is lifted."""
    async with workshop(MemoryStore(), echoing()) as here:
        await beside(here)
        await here.gateway.halt("fire", by="lisa")
        await until(lambda: not takes(here))
        thread = await here.launch()
        row = await here.store.thread(thread)
        await here.gateway.lift(by="lisa")
        view = await here.rested(thread)

    assert row is not None
    assert (row.lease_until, view.status) == (None, "finished")


async def test_engine_takes_nothing_before_it_knows_whether_it_is_halted() -> None:
    """A store that is busy at the first look is asked again; the engine doesn't end of it."""
    store = ShakyStore()
    store.failures["halted"] = 3
    async with workshop(store, echoing()) as here:
        await store.set_halt("fire")
        machine = here.engine(nearby=here.nearby)
        assert not takes(here)
        await until(lambda: store.failures["halted"] == 0)
        thread = await here.launch()
        await store.asked_again("halted", 2)
        assert (await here.gateway.thread(thread)).status == "queued"
        await here.gateway.lift(by="lisa")
        view = await here.rested(thread)

        assert (view.status, machine.task.done()) == ("finished", False)


class SlowToCommit(MemoryStore):
    """A store whose next commit with a lease takes until a gate opens."""

    def __init__(self) -> None:
        """Begin quick."""
        super().__init__()
        self.gate: Gate | None = None

    async def commit(self, commit: Commit) -> CommitResult:
        """Write, and say so late."""
        result = await super().commit(commit)
        if self.gate is not None and commit.lease_ms is not None:
            await self.gate.stop_here()
        return result


async def test_thread_that_comes_while_the_engine_drains_is_given_back() -> None:
    """Others go on with it at once; nobody waits for the lease to run out."""
    holding = Gate()
    store = SlowToCommit()
    async with workshop(store, echoing(holding)) as here:
        engine = await beside(here)
        await here.launch()
        await holding.reached()
        store.gate = Gate()
        launching = asyncio.create_task(here.launch())
        await store.gate.reached()
        engine.task.cancel()
        await until(lambda: here.nearby.engine is None)
        store.gate.open()
        thread = await launching
        await asyncio.wait([engine.task])
        row = await store.thread(thread)

    assert row is not None
    assert (row.lease_until, row.handled_seq) == (None, 2)
    assert row.wake_at is not None


async def test_client_that_leaves_takes_nothing_along() -> None:
    """It hangs up while its launch is being written: the thread is handed over all the same.

    Were the request cut off there, the thread would be leased to nobody until that runs out.
    """
    store = SlowToCommit()
    text, key = new_key("lisa", ["launch"], now=Millis(0))
    async with workshop(store, echoing()) as here:
        await store.add_key(key)
        await beside(here)
        runner = await run_app(make_app(here.gateway, store, HttpOptions()), "127.0.0.1", 0)
        store.gate = Gate()
        _, writer = await asyncio.open_connection(*runner.addresses[0])
        writer.write(_request("/v1/threads", text, b'{"agent": "agent", "text": "hello"}'))
        await store.gate.reached()
        writer.transport.abort()
        await until(lambda: all(one.transport is None for one in _connections(runner)))
        store.gate.open()
        page = await store.threads(Wish())
        view = await here.rested(page.items[0].id)
        await runner.cleanup()

    assert view.status == "finished"


def _connections(runner: DeadlineRunner) -> list[RequestHandler]:
    assert runner.server is not None
    return runner.server.connections


def _request(path: str, key: str, body: bytes) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


# --- in another process ---------------------------------------------------------------------------


async def test_roles_apart_work_as_ever() -> None:
    """Intake in one process, the engine in another, each with a memory of its own."""
    tables = MemoryTables()
    async with workshop(MemoryStore(tables), paying()) as here:
        store = MemoryStore(tables)
        await store.open()
        worker = here.engine(store=store, nearby=Nearby())
        thread = await here.launch()
        (question,) = (await here.rested(thread)).questions
        await here.gateway.answer(question.id, YES, by="otto")
        view = await here.rested(thread)
        await stop(worker.task)
        await store.close()

    assert view.result == "done"


async def test_lease_of_a_process_that_died_runs_out() -> None:
    """It died between its commit and the handover: another machine takes the thread up."""
    async with workshop(MemoryStore(), echoing()) as here:
        here.nearby.engine = Grave()
        thread = await here.launch()
        row = await here.store.thread(thread)
        assert row is not None
        assert row.lease_until is not None
        here.engine()
        view = await here.rested(thread)

    assert view.status == "finished"


class Grave:
    """An engine that takes everything and does nothing, as one that was killed."""

    def reserve(self) -> int | None:
        """Ask for a short lease."""
        return 50

    def unreserve(self) -> None:
        """Forget it."""

    def take(self, *_: object) -> None:
        """Do nothing."""

    def is_at(self, thread: ThreadId) -> bool:  # noqa: ARG002 (whichever)
        """Be nowhere."""
        return False


# --- what is remembered, and has grown old --------------------------------------------------------


def rival(here: Workshop) -> LocalGateway:
    """Make the gateway of another process on the same store."""
    return LocalGateway(here.store, here.agents, Hints(here.store))


async def test_decision_on_an_old_memory_is_made_again() -> None:
    """Somebody else has moved the thread on: the commit finds out, and the log is read."""
    store = ShakyStore()
    async with workshop(store, paying()) as here:
        thread = await here.launch()
        await rival(here).say(thread, "elsewhere", by="otto")
        loads = store.asked["load"]
        await here.gateway.say(thread, "here", by="lisa")
        texts = [getattr(event, "text", "") for event in await here.log(thread)]

    assert texts == ["", "hello", "elsewhere", "here"]
    assert store.asked["load"] == loads + 1


async def test_command_is_not_refused_because_of_an_old_memory() -> None:
    """Here it is remembered as paused; elsewhere it was resumed."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()
        await here.gateway.pause(thread, by="lisa")
        await rival(here).resume(thread, by="otto")
        paused = await here.gateway.pause(thread, by="lisa")

    assert paused.status == "paused"
    assert (await here.names(thread)).count("ThreadPaused") == 2


async def test_question_that_was_answered_elsewhere_is_told_so() -> None:
    """The memory says that it is open; the store knows better."""
    async with workshop(MemoryStore(), paying()) as here:
        await beside(here)
        thread = await here.launch()
        (question,) = (await here.rested(thread)).questions
        await rival(here).answer(question.id, {"approved": False}, by="otto")
        with pytest.raises(AlreadySettled, match="otto"):
            await here.gateway.answer(question.id, YES, by="lisa")


async def test_engine_reads_a_thread_whose_memory_is_old() -> None:
    """Only a state of the very event that was leased is worked on."""
    async with workshop(MemoryStore(), echoing()) as here:
        thread = await here.launch()
        await rival(here).say(thread, "news", by="otto")
        known = here.nearby.states.get(thread)
        here.engine(nearby=here.nearby)
        view = await here.rested(thread)

    assert known is not None
    assert known.state.seq == 2
    assert "news" in (view.result or "")


# --- timers ---------------------------------------------------------------------------------------


async def test_timer_fires_while_a_long_tool_of_the_thread_runs() -> None:
    """The reminder waits neither for the tool nor for a renewal of the lease."""
    gate = Gate()

    @tool
    async def work(ctx: ToolContext) -> str:
        """Ask in passing, and work on."""
        ctx.post("Well?", waiting=Waiting(remind_after=1))
        return "asked"

    @tool
    async def long() -> str:
        """Take long."""
        await gate.stop_here()
        return "worked"

    model = ScriptedModel([calls(call("work")), calls(call("long")), says("done"), says("done")])
    async with workshop(MemoryStore(), Agent("agent", tools=[work, long], model=model)) as here:
        await beside(here)
        thread = await here.launch()
        await gate.reached()
        async with asyncio.timeout(10):
            async for event in here.gateway.follow(thread):
                if event.type == "QuestionReminded":
                    break
        names = await here.names(thread)
        gate.open()

    assert names[-1] == "QuestionReminded"
    assert "ToolReturned" not in names[names.index("QuestionReminded") :]
