"""Pause, resume, cancel, retry and the kill switch, reaching what is in flight. Over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_core import Agent, RetryPolicy, ScriptedModel, call, calls, says, tool
from agent_core.errors import ModelUnavailable
from agent_core.loop.world import World
from tests.doubles.stage import Gate, results_in, said_to
from tests.scenario.gateway.premises import KINDS, YES, in_file, premises


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


KIND = pytest.mark.parametrize("kind", KINDS)


@KIND
async def test_pause_reaches_a_model_call_in_flight(kind: str, tmp_path: Path) -> None:
    """The call is dropped at once; resumed with an instruction, the model is asked anew."""
    gate, cut_off = Gate(), asyncio.Event()

    async def slow(_request: object) -> None:
        try:
            await gate.stop_here()
        except asyncio.CancelledError:
            cut_off.set()
            raise

    model = ScriptedModel([says("done")], before_reply=slow)
    async with premises(KINDS[kind](tmp_path), Agent("agent", model=model)) as here:
        thread = await here.launch()
        await gate.reached()
        paused = await here.tell(thread, "pause", {"reason": "lunch"})
        async with asyncio.timeout(5):
            await cut_off.wait()
        gate.open()
        held = await here.rested(thread)
        await here.tell(thread, "resume", {"instruction": "be brief"})
        done = await here.rested(thread)
        types = await here.types(thread)

    assert (paused.json["status"], held["status"]) == ("paused", "paused")
    assert (done["status"], len(model.requests)) == ("finished", 2)
    assert any("be brief" in text for _, text in said_to(model.requests[1]))
    assert types.count("ModelReplied") == 1


async def test_pause_stops_what_may_be_stopped_and_lets_the_rest_finish(tmp_path: Path) -> None:
    """One is cut off and recorded so, the other ends and is recorded; nothing is redone."""
    ran: list[str] = []
    stoppable, steady = Gate(), Gate()

    @tool(interruptible=True)
    async def wait_long() -> str:
        """May be stopped."""
        ran.append("wait_long")
        await stoppable.stop_here()
        return "never"

    @tool
    async def pay() -> str:
        """May not be stopped."""
        ran.append("pay")
        await steady.stop_here()
        return "paid"

    model = ScriptedModel([calls(call("wait_long"), call("pay")), says("done")])
    agent = Agent("agent", tools=[wait_long, pay], model=model)
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        await asyncio.gather(stoppable.reached(), steady.reached())
        await here.tell(thread, "pause")
        cut = await here.until(thread, "ToolFailed")
        steady.open()
        await here.until(thread, "ToolReturned")
        held = await here.rested(thread)
        asked_while_held = len(model.requests)
        await here.tell(thread, "resume", {})
        done = await here.rested(thread)

    assert (cut["reason"], held["status"], asked_while_held) == ("interrupted", "paused", 1)
    assert done["status"] == "finished"
    assert sorted(ran) == ["pay", "wait_long"]
    assert results_in(model.requests[1])[1] == "paid"


async def test_cancel_withdraws_questions_and_undoes_in_reverse_order(tmp_path: Path) -> None:
    """Every open call gets a result; each undoing is recorded, and tried again if it fails."""
    undone: list[str] = []

    async def unbook(what: str) -> None:
        undone.append(what)
        if undone == ["car"]:
            raise ValueError("line busy")

    @tool(compensate=unbook)
    async def book(what: str) -> str:
        """Book something."""
        return f"booked {what}"

    @tool(approval=True)
    async def pay() -> str:
        """Pay for it all."""
        raise AssertionError

    script = [
        calls(call("book", what="flight")),
        calls(call("book", what="car")),
        calls(call("pay")),
    ]
    agent = Agent("agent", tools=[book, pay], model=ScriptedModel(script))
    async with premises(in_file(tmp_path), agent, world=World(sleep=_at_once)) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        cancelled = await here.tell(thread, "cancel", {"reason": "no holiday"})
        await here.until(thread, "CompensationRan", times=3)
        late = await here.answer(question, YES)
        shown = await here.question(question)
        log = await here.log(thread)
        outbox = await here.deliveries(thread)

    assert cancelled.json["status"] == "cancelled"
    assert cancelled.json["questions"] == []
    assert undone == ["car", "car", "flight"]
    assert (shown["status"], late.status, late.problem) == ("withdrawn", 410, "question-closed")
    ran = [event for event in log if event["type"] == "CompensationRan"]
    assert [event.get("settled", True) for event in ran] == [False, True, True]
    assert log[-1]["type"] == "AnswerRefused"
    kinds = [one.body["kind"] for one in outbox]
    assert kinds == ["question.asked", "question.settled", "thread.cancelled"]


async def test_cancel_reaches_a_tool_that_runs(tmp_path: Path) -> None:
    """One that can't be stopped ends and is recorded, and is then undone."""
    gate, undone = Gate(), asyncio.Event()

    async def give_back() -> None:
        undone.set()

    @tool(compensate=give_back)
    async def take() -> str:
        """Take something."""
        await gate.stop_here()
        return "taken"

    agent = Agent("agent", tools=[take], model=ScriptedModel([calls(call("take"))]))
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        await gate.reached()
        await here.tell(thread, "cancel")
        assert not undone.is_set()
        gate.open()
        await here.until(thread, "CompensationRan")
        types = await here.types(thread)

    assert undone.is_set()
    assert types[-3:] == ["ThreadCancelled", "ToolReturned", "CompensationRan"]


@KIND
async def test_halt_stops_everything_and_lift_goes_on(kind: str, tmp_path: Path) -> None:
    """A model call in flight is dropped, a tool ends, nothing starts; then all go on."""
    thinking, working = Gate(), Gate()

    async def think(request: object) -> None:
        if "think" in str(request):
            await thinking.stop_here()

    @tool
    async def work() -> str:
        """Work."""
        await working.stop_here()
        return "worked"

    thinker = ScriptedModel([says("thought")], before_reply=think)
    worker = ScriptedModel([calls(call("work")), says("done")])
    agents = [Agent("thinker", model=thinker), Agent("worker", tools=[work], model=worker)]
    async with premises(KINDS[kind](tmp_path), *agents) as here:
        first, second = await here.launch("thinker", "think"), await here.launch("worker")
        await asyncio.gather(thinking.reached(), working.reached())
        pulled = await here.call("PUT", "/v1/halt", {"reason": "fire"})
        third = await here.launch("thinker", "later")
        working.open()
        thinking.open()
        await here.until(second, "ToolReturned")
        asked = (len(thinker.requests), len(worker.requests))
        still = await here.call("GET", f"/v1/threads/{third}?wait=0.1")
        await here.call("DELETE", "/v1/halt")
        done = [await here.rested(thread) for thread in (first, second, third)]

    assert pulled.json["halted"]
    assert (asked, still.json["status"]) == ((1, 1), "queued")
    assert [one["status"] for one in done] == ["finished"] * 3
    assert (len(thinker.requests), len(worker.requests)) == (3, 2)


async def test_failed_thread_is_retried_from_where_it_stood(tmp_path: Path) -> None:
    """Tools that ran don't run again; the model is asked again, and has an answer now."""
    ran: list[str] = []

    @tool
    async def look() -> str:
        """Look something up."""
        ran.append("look")
        return "found"

    down = ModelUnavailable("no answer")
    model = ScriptedModel([calls(call("look")), [down, down, says("done")]])
    agent = Agent(
        "agent", tools=[look], model=model, model_retries=RetryPolicy(attempts=2, first_delay=0.01)
    )
    async with premises(in_file(tmp_path), agent) as here:
        thread = await here.launch()
        failed = await here.rested(thread)
        early = await here.tell(thread, "resume", {})
        retried = await here.tell(thread, "retry")
        done = await here.rested(thread)
        twice = await here.tell(thread, "retry")
        kinds = [one.body["kind"] for one in await here.deliveries(thread)]

    assert (failed["status"], "no answer" in failed["error"]) == ("failed", True)
    assert (early.status, retried.status, twice.status) == (409, 200, 409)
    assert (done["status"], done["error"], ran) == ("finished", None, ["look"])
    assert kinds == ["thread.failed", "thread.finished"]
