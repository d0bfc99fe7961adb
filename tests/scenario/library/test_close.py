"""Close: finishing a thread by hand, and what becomes of what is open."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import (
    Failed,
    Finished,
    ModelRejected,
    OpenQuestions,
    WrongStatus,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from tests.doubles.stage import (
    APPROVED,
    Gate,
    Stage,
    expect,
    types_in,
    upto_last,
)


async def test_closing_with_open_questions_is_refused_unless_told_to_withdraw_them() -> None:
    """People would be left hanging; withdrawn, they are told."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")

    with pytest.raises(OpenQuestions, match=r"still being asked \(q_1\); withdraw them to close"):
        await stage.agent.close(asked.checkpoint)
    closed = await stage.agent.close(asked.checkpoint, withdraw=True, result="settled by phone")

    assert expect(closed, Finished).result == "settled by phone"
    assert types_in(closed)[-2:] == ["QuestionWithdrawn", "ThreadFinished"]


async def test_a_closed_thread_takes_a_message_and_every_call_has_its_result() -> None:
    """Closed is finished: it can be taken up again."""
    stage = Stage([calls(call("contact_human", question="Well?")), says("done")], contact_human)
    asked = await stage.agent.run("go")
    closed = await stage.agent.close(asked.checkpoint, withdraw=True)

    outcome = await stage.agent.say(closed.checkpoint, "one more thing")

    assert expect(outcome, Finished).result == "done"
    assert "withdrawn" in stage.last_results[0]


async def test_closing_a_paused_thread_settles_the_calls_that_never_ran() -> None:
    """Chosen, held, closed: the call's one result says that it didn't run."""
    deeds: list[str] = []

    @tool(approval=True)
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    await thread.run()
    await thread.pause()
    await thread.answer(APPROVED)
    await thread.close()

    await stage.agent.say(thread.checkpoint, "hello?")

    assert deeds == []
    assert "was not run" in stage.last_results[0]


async def test_closing_while_a_tool_has_no_result_is_refused() -> None:
    """Its outcome would be lost."""

    @tool
    async def pay() -> str:
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    whole = await stage.agent.run("go")

    with pytest.raises(WrongStatus, match="was started and has no result"):
        await stage.agent.close(upto_last(whole, "ToolStarted"))


async def test_closing_while_the_model_thinks_drops_its_reply() -> None:
    """Whoever closes has the last word."""
    gate = Gate()
    stage = Stage([says("done")], before_reply=gate.stop_here)
    thread = stage.agent.launch("go")
    running = asyncio.create_task(thread.run())
    await gate.reached()
    await thread.close(result="closed")

    outcome = expect(await running, Finished)

    assert outcome.result == "closed"
    assert "ModelReplied" not in types_in(outcome)


async def test_a_failed_thread_can_be_closed() -> None:
    """Nobody is forced to retry."""
    stage = Stage([ModelRejected("no such model")])
    failed = expect(await stage.agent.run("go"), Failed)

    closed = await stage.agent.close(failed.checkpoint, result="done by hand")

    assert expect(closed, Finished).result == "done by hand"
