"""Halt: the kill switch, checked before every model and tool call."""

from __future__ import annotations

from agent_core import (
    Finished,
    ModelRequest,
    ModelUnavailable,
    Paused,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from tests.doubles.stage import (
    Stage,
    expect,
    types_in,
)


async def test_halt_is_checked_before_the_model_and_lifting_it_lets_the_thread_go_on() -> None:
    """The kill switch: no model call until it is lifted, and nothing is lost."""
    stage = Stage([says("done")])
    stage.world.halt_reason = "budget"

    halted = expect(await stage.agent.run("go"), Paused)
    assert (halted.why, stage.model.requests) == ("halted", [])
    stage.world.halt_reason = ""

    assert expect(await stage.agent.resume(halted.checkpoint), Finished).result == "done"


async def test_halt_is_checked_before_each_tool() -> None:
    """It may come while the model thinks: what it then chooses doesn't run."""
    deeds: list[str] = []

    @tool
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    async def halt(_request: ModelRequest) -> None:
        if len(stage.model.requests) == 1:
            stage.world.halt_reason = "budget"

    stage = Stage([calls(call("pay")), says("done")], pay, before_reply=halt)
    halted = expect(await stage.agent.run("go"), Paused)
    assert (halted.why, deeds) == ("halted", [])
    stage.world.halt_reason = ""

    outcome = await stage.agent.resume(halted.checkpoint)

    assert expect(outcome, Finished).result == "done"
    assert deeds == ["paid"]


async def test_halt_lets_a_running_tool_finish_and_be_recorded() -> None:
    """Then nothing more starts."""

    @tool
    async def pay() -> str:
        stage.world.halt_reason = "budget"
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)

    halted = expect(await stage.agent.run("go"), Paused)

    assert types_in(halted)[-1] == "ToolReturned"
    assert len(stage.model.requests) == 1


async def test_halt_stops_the_retries_of_a_model_call() -> None:
    """A failing call is not tried again while halted; it is asked anew afterwards."""

    async def halt(_request: ModelRequest) -> None:
        if len(stage.model.requests) == 1:
            stage.world.halt_reason = "budget"

    stage = Stage([[ModelUnavailable("busy"), says("done")]], before_reply=halt)
    halted = expect(await stage.agent.run("go"), Paused)
    assert (halted.why, len(stage.model.requests)) == ("halted", 1)
    stage.world.halt_reason = ""

    assert expect(await stage.agent.resume(halted.checkpoint), Finished).result == "done"


async def test_halt_stops_the_retries_of_a_tool() -> None:
    """Each attempt is a tool call."""
    tries = 0

    @tool(retries=3)
    async def shaky() -> str:
        nonlocal tries
        tries += 1
        stage.world.halt_reason = "budget"
        raise RuntimeError("no")

    stage = Stage([calls(call("shaky")), says("done")], shaky)

    await stage.agent.run("go")

    assert tries == 1


async def test_while_halted_people_can_answer_and_talk() -> None:
    """Only models and tools stand still."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")
    stage.world.halt_reason = "budget"

    halted = expect(await stage.agent.resume(asked.checkpoint, "fine"), Paused)
    assert (halted.why, len(stage.model.requests)) == ("halted", 1)
    stage.world.halt_reason = ""
    await stage.agent.resume(halted.checkpoint)

    assert stage.last_results == ["fine"]
