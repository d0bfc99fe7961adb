"""Deploys: a thread that waited while its tools changed is not resumed blindly."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from agent_core import (
    AlreadySettled,
    Finished,
    Paused,
    Tool,
    ToolContext,
    ToolsChanged,
    WrongAgent,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import APPROVED, Stage, expect, log_of, types_in, upto, upto_last

RUNS: list[str] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    RUNS.clear()


@tool(approval=True)
async def pay(amount: int, to: str = "anna") -> str:
    """Pay somebody."""
    RUNS.append(f"paid {amount} to {to}")
    return "paid"


@tool(name="pay", approval=True)
async def pay_renamed(sum: int, to: str = "anna") -> str:  # noqa: A002 (another name, on purpose)
    """Pay somebody."""
    RUNS.append(f"paid {sum} to {to}")
    return "paid"


@tool(name="pay", approval=True)
async def pay_retyped(amount: float, to: str = "anna") -> str:
    """Pay somebody."""
    RUNS.append(f"paid {amount} to {to}")
    return "paid"


@tool(name="pay", approval=True)
async def pay_more(amount: int, purpose: str, to: str = "anna") -> str:
    """Pay somebody."""
    RUNS.append(f"paid {amount} to {to} for {purpose}")
    return "paid"


@tool(name="pay", approval=True)
async def pay_reworded(
    amount: Annotated[int, Field(description="How much, in cents.")], to: str = "anna"
) -> str:
    """Pay somebody, quickly. Completely new prose."""
    RUNS.append(f"paid {amount} to {to}")
    return "paid"


def waiting() -> Stage:
    """Set up an agent that waits for an approval."""
    return Stage([calls(call("pay", amount=5)), says("done")], pay)


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([], "the tool pay is gone"),
        ([pay_renamed], "the tool pay takes other arguments now"),
        ([pay_retyped], "the tool pay takes other arguments now"),
        ([pay_more], "the tool pay takes other arguments now"),
    ],
)
async def test_an_open_call_whose_tool_changed_is_a_named_error_and_nothing_runs(
    tools: list[Tool], problem: str
) -> None:
    """Neither the answer is taken nor the tool run: the checkpoint is as good as before."""
    stage = waiting()
    paused = await stage.agent.run("go")
    deployed = stage.deploy(*tools)

    with pytest.raises(ToolsChanged, match=problem):
        await deployed.resume(paused.checkpoint, APPROVED)
    with pytest.raises(ToolsChanged, match=problem):
        await deployed.resume(paused.checkpoint)

    assert RUNS == []
    await stage.agent.resume(paused.checkpoint, APPROVED)
    assert RUNS == ["paid 5 to anna"]


@pytest.mark.parametrize("tools", [[], [pay_renamed]])
async def test_told_to_tell_the_agent_the_call_is_given_up_and_the_model_told(
    tools: list[Tool],
) -> None:
    """`changed_tools="tell_agent"`: people's question is withdrawn, the model decides anew."""
    stage = waiting()
    paused = await stage.agent.run("go")

    outcome = await stage.deploy(*tools).resume(paused.checkpoint, changed_tools="tell_agent")

    assert expect(outcome, Finished).result == "done"
    assert RUNS == []
    assert "pay" in stage.last_results[0]
    assert "QuestionWithdrawn" in types_in(outcome)


async def test_an_answer_to_a_call_that_was_given_up_is_told_that_it_was() -> None:
    """The person learns that the question no longer stands."""
    stage = waiting()
    paused = await stage.agent.run("go")

    with pytest.raises(AlreadySettled, match="withdrawn"):
        await stage.deploy().resume(paused.checkpoint, APPROVED, changed_tools="tell_agent")


async def test_new_words_for_the_same_parameters_are_no_change() -> None:
    """Docstrings and descriptions may be improved while threads wait."""
    stage = waiting()
    paused = await stage.agent.run("go")

    outcome = await stage.deploy(pay_reworded).resume(paused.checkpoint, APPROVED)

    assert expect(outcome, Finished).result == "done"
    assert RUNS == ["paid 5 to anna"]


async def test_tools_that_no_open_call_needs_may_come_and_go() -> None:
    """Only what waits is held to its shape."""

    @tool
    async def look() -> str:
        return "looked"

    @tool
    async def listen() -> str:
        return "listened"

    stage = Stage(
        [calls(call("look")), calls(call("pay", amount=5)), calls(call("listen")), says("done")],
        look,
        pay,
    )
    paused = await stage.agent.run("go")

    outcome = await stage.deploy(pay, listen).resume(paused.checkpoint, APPROVED)

    assert expect(outcome, Finished).result == "done"
    assert stage.last_results == ["listened"]


async def test_a_tool_that_needs_approval_since_the_deploy_asks_before_it_runs() -> None:
    """Chosen before, run after: the newer rule holds."""

    @tool(name="pay")
    async def free(amount: int, to: str = "anna") -> str:
        RUNS.append(f"paid {amount} to {to}")
        return "paid"

    stage = Stage([calls(call("pay", amount=5)), says("done")], free)
    whole = await stage.agent.run("go")
    RUNS.clear()
    chosen = upto(whole, types_in(whole).index("ModelReplied") + 1)

    outcome = await stage.deploy(pay).resume(chosen)

    assert expect(outcome, Paused).questions[0].kind == "approval"
    assert RUNS == []


async def test_a_handler_that_is_gone_is_a_named_error_before_the_answer_is_taken() -> None:
    """The answer would lead nowhere."""

    @tool
    async def wait(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "How much?", resume_to={"event": "paid"})

    stage = Stage([calls(call("wait")), says("done")], wait)
    stage.agent.on("paid")(lambda answer: answer)
    paused = await stage.agent.run("go")
    deployed = stage.deploy(wait)

    with pytest.raises(ToolsChanged, match="the handler paid for wait is gone"):
        await deployed.resume(paused.checkpoint, "5")
    outcome = await deployed.resume(paused.checkpoint, changed_tools="tell_agent")

    assert expect(outcome, Finished).result == "done"
    assert "the handler paid for wait is gone" in stage.last_results[0]


async def test_a_handler_that_is_gone_after_the_answer_is_a_named_error_too() -> None:
    """Answered while paused, deployed, resumed."""

    @tool
    async def wait(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "How much?", resume_to={"event": "paid"})

    stage = Stage([calls(call("wait")), says("done")], wait)
    stage.agent.on("paid")(lambda answer: answer)
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)
    await thread.pause()
    await thread.answer("5")

    with pytest.raises(ToolsChanged, match="the handler paid for wait is gone"):
        await stage.deploy(wait).resume(thread.checkpoint)
    outcome = await stage.deploy(wait).resume(thread.checkpoint, changed_tools="tell_agent")

    assert expect(outcome, Finished).result == "done"


async def test_a_call_cut_off_by_a_crash_whose_tool_is_gone_stays_unknown() -> None:
    """A deploy after a crash: not run again, and not told as not run."""

    @tool
    async def send() -> str:
        RUNS.append("sent")
        return "sent"

    stage = Stage([calls(call("send")), says("done")], send)
    whole = await stage.agent.run("go")
    crashed = upto_last(whole, "ToolStarted")

    with pytest.raises(ToolsChanged, match="the tool send is gone"):
        await stage.deploy().resume(crashed)
    await stage.deploy().resume(crashed, changed_tools="tell_agent")

    assert RUNS == ["sent"]
    assert "Nobody knows" in stage.last_results[0]


async def test_telling_the_agent_settles_a_call_whose_other_question_needs_no_wait() -> None:
    """The tool had posted one question and asked another, which was answered before the deploy."""

    @tool
    async def survey(ctx: ToolContext) -> str:
        ctx.post("How was it?", id="post")
        return str(await ctx.ask("Who?", id="ask"))

    stage = Stage([calls(call("survey")), says("done"), says("done")], survey)
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)
    await thread.pause()
    await thread.answer({"ask": "anna"})

    outcome = await stage.deploy().resume(thread.checkpoint, changed_tools="tell_agent")

    assert not outcome.state.open_calls
    assert "survey is gone" in stage.last_results[0]


async def test_another_agents_checkpoint_is_refused_by_name() -> None:
    """A thread belongs to the agent that began it."""
    stage = waiting()
    paused = await stage.agent.run("go")
    other: Any = Stage([says("done")])
    renamed = type(other.agent)("refunds", tools=[pay], model=other.model)

    with pytest.raises(WrongAgent, match="belongs to agent 'agent', not to 'refunds'"):
        await renamed.resume(paused.checkpoint, APPROVED)


async def test_a_finished_thread_goes_on_with_whatever_tools_there_are() -> None:
    """Nothing is open, so nothing can have changed."""
    stage = Stage([calls(call("pay", amount=5)), says("done"), says("again")], pay)
    paused = await stage.agent.run("go")
    finished = await stage.agent.resume(paused.checkpoint, APPROVED)

    outcome = await stage.deploy().say(finished.checkpoint, "and now?")

    assert expect(outcome, Finished).result == "again"
    assert [e["type"] for e in log_of(outcome)].count("ToolStarted") == 1
