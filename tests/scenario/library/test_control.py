"""Pause and resume: what is stopped, what goes on, and what is never redone."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import (
    Agent,
    Finished,
    ModelRequest,
    Paused,
    ScriptedModel,
    ToolContext,
    World,
    WrongStatus,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from tests.doubles.stage import (
    Gate,
    Stage,
    expect,
    log_of,
    question_of,
    said_to,
    types_in,
    upto,
)


async def test_a_pause_reaches_the_model_call_in_flight() -> None:
    """It is cut off, not recorded, and the model is asked again after the resume."""
    gate = Gate()
    stage = Stage([says("done")], before_reply=gate.stop_here)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.pause(by="otto", reason="wait a minute")

    paused = expect(await running, Paused)
    assert (paused.why, paused.questions) == ("paused", ())
    assert "ModelReplied" not in types_in(paused)
    gate.open()
    outcome = await stage.agent.resume(paused.checkpoint)

    assert expect(outcome, Finished).result == "done"
    assert len(stage.model.requests) == 2


async def test_a_pause_stops_an_interruptible_tool_half_way() -> None:
    """It says that it may be stopped; the model is told that it was, and nothing is redone."""
    gate = Gate()
    deeds: list[str] = []

    @tool(interruptible=True)
    async def watch() -> str:
        deeds.append("began")
        await gate.stop_here()
        deeds.append("ended")
        return "watched"

    stage = Stage([calls(call("watch")), says("done")], watch)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.pause()
    paused = expect(await running, Paused)
    assert log_of(paused)[-1]["reason"] == "interrupted"

    await stage.agent.resume(paused.checkpoint)

    assert deeds == ["began"]
    assert "stopped half-way" in stage.last_results[0]


async def test_a_pause_lets_any_other_tool_finish_and_records_its_result() -> None:
    """A side effect is never cut in half; on resume it is not done again."""
    gate = Gate()
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        await gate.stop_here()
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.pause()
    gate.open()
    paused = expect(await running, Paused)
    assert types_in(paused)[-2:] == ["ThreadPaused", "ToolReturned"]

    outcome = await stage.agent.resume(paused.checkpoint)

    assert expect(outcome, Finished).result == "done"
    assert deeds == ["paid"]
    assert stage.last_results == ["paid"]


async def test_a_pause_can_stand_between_choosing_a_tool_and_running_it() -> None:
    """The choice is an event: held after it, nothing runs until the thread is let go."""
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    whole = await stage.agent.run("go")
    deeds.clear()
    chosen = upto(whole, types_in(whole).index("ModelReplied") + 1)

    held = expect(await stage.agent.pause(chosen, by="otto"), Paused)
    still = expect(await stage.agent.open(held.checkpoint).run(), Paused)
    assert (still.why, deeds) == ("paused", [])
    outcome = await stage.agent.resume(still.checkpoint)

    assert expect(outcome, Finished).result == "done"
    assert deeds == ["paid"]


async def test_a_pause_that_is_lifted_while_a_tool_still_runs_changes_nothing() -> None:
    """The tool ends once, and the thread goes on."""
    gate = Gate()
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        await gate.stop_here()
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.pause()
    await thread.resume()
    gate.open()

    assert expect(await running, Finished).result == "done"
    assert deeds == ["paid"]


async def test_while_paused_no_further_attempt_of_a_failing_tool_starts() -> None:
    """The attempt under way ends; another one would be something new."""
    tries = 0

    async def a_while(_seconds: float) -> None:
        for _turn_of_the_event_loop in range(100):
            await asyncio.sleep(0)

    @tool(retries=3)
    async def shaky() -> str:
        nonlocal tries
        tries += 1
        if tries == 1:
            await thread.pause()
        raise RuntimeError("no")

    model = ScriptedModel([calls(call("shaky")), says("done")])
    agent = Agent("agent", tools=[shaky], model=model, world=World(sleep=a_while))
    thread = agent.launch("go")

    expect(await thread.run(), Paused)

    assert tries == 1


async def test_resume_can_carry_an_instruction() -> None:
    """The model sees who let it go on, and with which words."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")
    held = await stage.agent.pause(asked.checkpoint, by="otto")

    await stage.agent.resume(held.checkpoint, "fine", by="otto", instruction="be brief")

    assert said_to(stage.model.requests[-1])[-2:] == [
        ("tool", "fine"),
        ("user", "[resumed by otto, with an instruction]\nbe brief"),
    ]


async def test_an_instruction_to_a_thread_that_is_not_paused_is_a_message() -> None:
    """It reaches the model either way."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")

    await stage.agent.resume(asked.checkpoint, "fine", by="otto", instruction="be brief")

    assert said_to(stage.model.requests[-1])[-1] == ("user", "[from otto]\nbe brief")


async def test_a_message_to_a_paused_thread_is_kept_until_it_goes_on() -> None:
    """People may go on talking; the model listens later."""
    stage = Stage([says("one"), says("two")])
    thread = stage.agent.launch("hi")
    await thread.pause()
    await thread.say("are you there?")

    held = expect(await thread.run(), Paused)
    assert stage.model.requests == []
    await stage.agent.resume(held.checkpoint)

    assert [text for _, text in said_to(stage.model.requests[0])] == ["hi", "are you there?"]


async def test_what_a_thread_cannot_do_now_is_refused_with_its_state_and_who_changed_it() -> None:
    """Every refusal says how the thread stands."""
    stage = Stage([says("one"), says("two")])
    thread = stage.agent.launch("hi")
    with pytest.raises(WrongStatus, match="the thread is running and can't be resumed"):
        await thread.resume()
    with pytest.raises(WrongStatus, match="the thread is running and can't be retried"):
        await thread.retry()
    await thread.pause(by="otto")
    with pytest.raises(WrongStatus, match=r"the thread is paused \(by otto, 2026-01-01"):
        await thread.pause()
    await thread.resume()
    await thread.run()
    with pytest.raises(WrongStatus, match="the thread is finished and can't be paused"):
        await thread.pause()
    with pytest.raises(WrongStatus, match="the thread is finished and can't be cancelled"):
        await thread.cancel()
    with pytest.raises(WrongStatus, match="the thread is finished and can't be closed"):
        await thread.close()


async def test_a_thread_that_is_paused_and_resumed_many_times_runs_everything_once() -> None:
    """Pause before each step of a whole run: nothing is redone, nothing is left out."""
    deeds: list[str] = []

    @tool
    async def step(n: int) -> str:
        deeds.append(f"step {n}")
        return f"did {n}"

    async def hold(_request: ModelRequest) -> None:
        if len(stage.model.requests) % 2:
            await thread.pause()
            await asyncio.Event().wait()

    script = [*(calls(call("step", n=n)) for n in range(5)), says("done")]
    stage = Stage(script, step, before_reply=hold)
    thread = stage.agent.launch("go")
    while (await thread.run()).is_paused:
        await thread.resume()

    assert expect(thread.outcome(), Finished).result == "done"
    assert deeds == [f"step {n}" for n in range(5)]


async def test_a_question_asked_by_a_tool_while_paused_is_still_asked() -> None:
    """The pause holds the agent, not the people."""
    gate = Gate()

    @tool
    async def ask(ctx: ToolContext) -> str:
        await gate.stop_here()
        return str(await ctx.ask("Well?"))

    stage = Stage([calls(call("ask")), says("done")], ask)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.pause()
    gate.open()
    paused = expect(await running, Paused)
    assert [question.prompt for question in paused.questions] == ["Well?"]

    await stage.agent.resume(paused.checkpoint, "fine")

    assert stage.last_results == ["fine"]


async def test_one_run_per_thread_at_a_time() -> None:
    """A second run neither takes a running tool for a crashed one nor runs it again."""
    gate = Gate()
    deeds: list[str] = []

    @tool(idempotent=True)
    async def pay() -> str:
        deeds.append("paid")
        await gate.stop_here()
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    first = asyncio.create_task(thread.run())
    await gate.reached()
    second = asyncio.create_task(thread.run())
    await asyncio.sleep(0)
    gate.open()
    ends = await asyncio.gather(first, second, return_exceptions=True)

    assert isinstance(ends[0], Finished)
    assert isinstance(ends[1], (Finished, WrongStatus))
    assert deeds == ["paid"]
    assert types_in(thread.checkpoint).count("ToolStarted") == 1


async def test_cancelling_the_task_leaves_nothing_behind_and_the_tool_as_unknown() -> None:
    """As in a crash: the started tool has no result, and a person will be asked."""
    gate = Gate()

    @tool
    async def pay() -> str:
        await gate.stop_here()
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    before = asyncio.all_tasks()
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert asyncio.all_tasks() == before
    assert types_in(thread.checkpoint)[-1] == "ToolStarted"
    paused = expect(await stage.agent.resume(thread.checkpoint), Paused)
    assert "cut off" in paused.questions[0].prompt


async def test_cancelling_the_task_during_a_model_call_records_nothing_and_leaves_no_task() -> None:
    """The thread goes on from where it stood."""
    gate = Gate()
    stage = Stage([says("done")], before_reply=gate.stop_here)
    before = asyncio.all_tasks()
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert asyncio.all_tasks() == before
    assert types_in(thread.checkpoint) == ["ThreadLaunched", "MessageReceived"]
    gate.open()
    assert expect(await thread.run(), Finished).result == "done"


async def test_a_run_at_rest_leaves_no_task_behind() -> None:
    """Waiting holds no process, no job and no memory."""

    @tool(approval=True)
    async def pay() -> str:
        return "paid"

    stage = Stage([calls(call("pay"), call("contact_human", question="?"))], pay, contact_human)
    before = asyncio.all_tasks()

    paused = expect(await stage.agent.run("go"), Paused)

    assert asyncio.all_tasks() == before
    assert len(paused.questions) == 2


async def test_paused_says_which_question_is_open() -> None:
    """An outcome is enough to go on from: the questions, and the checkpoint."""
    stage = Stage([calls(call("contact_human", question="Well?"))], contact_human)

    outcome = await stage.agent.run("go")

    assert outcome.is_paused
    assert question_of(outcome) in outcome.checkpoint
