"""Deploys: a thread that waited while its agent changed is not resumed blindly. Over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent_core import Agent, HandDrivenWorld, ScriptedModel, Tool, call, calls, says, tool
from agent_core.thread.events import ThreadId
from tests.scenario.gateway.premises import KINDS, YES, in_file, premises

KIND = pytest.mark.parametrize("kind", KINDS)


def paying(paid: list[object]) -> Tool:
    """Make the tool as it was."""

    @tool(approval=True)
    async def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    return pay


def paying_otherwise(paid: list[object]) -> Tool:
    """Make the tool as it is after the deploy: other arguments under the same name."""

    @tool(approval=True)
    async def pay(amount: int, currency: str) -> str:
        """Pay."""
        paid.append((amount, currency))
        return "paid"

    return pay


def agent_with(*tools: Tool) -> Agent:
    """Make an agent that pays ten."""
    model = ScriptedModel([calls(call("pay", amount=10)), says("done")])
    return Agent("agent", tools=tools, model=model)


@KIND
async def test_thread_whose_agent_is_gone_fails_by_name_and_can_be_retried(
    kind: str, tmp_path: Path
) -> None:
    """The next deploy brings it back, and the thread goes on from where it stood."""
    paid: list[object] = []
    async with premises(KINDS[kind](tmp_path), agent_with(paying(paid))) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.deploy()
        taken = await here.answer(question, YES)
        failed = await here.rested(thread)
        await here.deploy(agent_with(paying(paid)))
        await here.tell(thread, "retry")
        done = await here.rested(thread)
        kinds = [one.body["kind"] for one in await here.deliveries(thread)]

    assert taken.status == 200
    assert (failed["status"], failed["error"]) == ("failed", "there is no agent 'agent' any more")
    assert (done["status"], paid) == ("finished", [10])
    assert "thread.failed" in kinds


@pytest.mark.parametrize("now", ["changed", "gone"])
async def test_thread_whose_tool_changed_fails_by_name_and_can_be_retried(
    now: str, tmp_path: Path
) -> None:
    """What was approved doesn't run as something else; with the old tool back, it runs."""
    paid: list[object] = []
    other = [paying_otherwise(paid)] if now == "changed" else []
    async with premises(in_file(tmp_path), agent_with(paying(paid))) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.deploy(agent_with(*other))
        await here.answer(question, YES)
        failed = await here.rested(thread)
        await here.tell(thread, "retry")
        again = await here.rested(thread)
        paid_meanwhile = list(paid)
        await here.deploy(agent_with(paying(paid)))
        await here.tell(thread, "retry")
        done = await here.rested(thread)

    assert (failed["status"], again["status"]) == ("failed", "failed")
    assert "pay" in failed["error"]
    assert (done["status"], paid_meanwhile, paid) == ("finished", [], [10])


async def test_thread_that_waits_is_left_in_peace_by_a_deploy(tmp_path: Path) -> None:
    """Nobody wakes it; and with the same tool again by the time of the answer, nothing happened."""
    paid: list[object] = []
    async with premises(in_file(tmp_path), agent_with(paying(paid))) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.deploy(agent_with(paying_otherwise(paid)))
        await here.deploy(agent_with(paying(paid)))
        await here.answer(question, YES)
        done = await here.rested(thread)
        types = await here.types(thread)

    assert (done["status"], paid) == ("finished", [10])
    assert "ThreadFailed" not in types


async def test_edits_are_checked_against_the_tool_that_is_there(tmp_path: Path) -> None:
    """If the tool is gone, nobody can say whether an edit fits: 422, and the question stays."""
    async with premises(in_file(tmp_path), agent_with(paying([]))) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.deploy(agent_with())
        edited = await here.answer(question, {**YES, "arguments": {"amount": 5}})
        shown = await here.question(question)

    assert (edited.status, edited.problem, shown["status"]) == (422, "wrong-shape", "open")
    assert "pay is not there any more" in edited.json["detail"]


async def test_cancelled_thread_of_a_gone_agent_stays_cancelled(tmp_path: Path) -> None:
    """There is nothing to fail any more."""
    async with premises(in_file(tmp_path), agent_with(paying([]))) as here:
        thread = await here.launch()
        await here.asked(thread)
        await here.deploy()
        await here.tell(thread, "cancel")
        await here.deploy(agent_with(paying([])))

        assert (await here.rested(thread))["status"] == "cancelled"


async def test_what_a_gone_agent_did_is_undone_when_it_is_back(tmp_path: Path) -> None:
    """A cancel waits for the deploy that brings back who can undo, and keeps nobody busy."""
    undone: list[str] = []

    async def unbook() -> None:
        undone.append("flight")

    @tool(compensate=unbook)
    async def book() -> str:
        """Book a flight."""
        return "booked"

    model = ScriptedModel([calls(call("book")), calls(call("pay", amount=10))])
    agent = Agent("agent", tools=[book, paying([])], model=model)
    clock = HandDrivenWorld()
    async with premises(in_file(tmp_path), agent, world=clock.world) as here:
        thread = await here.launch()
        await here.asked(thread)
        await here.deploy()
        await here.tell(thread, "cancel")
        async with asyncio.timeout(10):
            while True:
                row = await here.store.thread(ThreadId(thread))
                assert row is not None
                if row.lease_until is None and row.handled_seq == row.seq:
                    break
                await asyncio.sleep(0.005)
        await here.deploy(agent)
        clock.pass_time(60)
        await here.until(thread, "CompensationRan")

    assert row.wake_at == clock.moment
    assert undone == ["flight"]
