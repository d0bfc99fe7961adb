"""Durable timers: reminders, expiry and escalation fire once, whatever is restarted. Over HTTP.

The clock is driven by hand, so a day takes no time, and nothing fires before its moment.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_core import (
    Agent,
    Escalation,
    HandDrivenWorld,
    ScriptedModel,
    Waiting,
    call,
    calls,
    says,
    tool,
)
from gateway.shortcuts.hints import Hints
from gateway.work.engine import Engine
from storage.memory import MemoryStore
from storage.memory.tables import MemoryTables
from tests.doubles.stage import results_in
from tests.scenario.gateway.premises import (
    KINDS,
    QUICK,
    YES,
    Premises,
    in_file,
    in_memory,
    premises,
)

KIND = pytest.mark.parametrize("kind", KINDS)
HOUR = 3600


class Patient:
    """An agent that asks for leave, in a world of its own, with these rules of waiting."""

    def __init__(self, **rules: Any) -> None:  # noqa: ANN401 (of Waiting)
        @tool(approval=True, approvers=["otto"])
        async def pay() -> str:
            """Pay."""
            return "paid"

        self.clock = HandDrivenWorld()
        self.model = ScriptedModel([calls(call("pay")), says("done")])
        self.agent = Agent("agent", tools=[pay], model=self.model, waiting=Waiting(**rules))


async def settled(here: Premises) -> None:
    """Let the engine look at everything that is due, twice over."""
    for _ in range(2):
        await asyncio.sleep(3 * QUICK.poll_seconds)


@KIND
async def test_reminder_fires_once_in_its_time_also_across_a_restart(
    kind: str, tmp_path: Path
) -> None:
    """Not before, not twice; and after a long outage once, not once for each hour."""
    patient = Patient(remind_after=HOUR)
    async with premises(KINDS[kind](tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        await here.asked(thread)
        patient.clock.pass_time(HOUR - 1)
        await settled(here)
        early = await here.types(thread)
        patient.clock.pass_time(1)
        await here.until(thread, "QuestionReminded")
        await here.deploy(patient.agent)
        await settled(here)
        once = await here.types(thread)
        await here.stop()
        patient.clock.pass_time(30 * 24 * HOUR)
        await here.start()
        await here.until(thread, "QuestionReminded", times=2)
        await settled(here)
        after_outage = await here.types(thread)
        kinds = [one.body["kind"] for one in await here.deliveries(thread)]

    assert "QuestionReminded" not in early
    assert once.count("QuestionReminded") == 1
    assert after_outage.count("QuestionReminded") == 2
    assert kinds == ["question.asked", "question.reminded", "question.reminded"]


async def test_expiry_is_told_to_the_agent_and_is_no_denial(tmp_path: Path) -> None:
    """A late answer is refused, explained and noted."""
    patient = Patient(expires_after=HOUR)
    async with premises(in_file(tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        expires_at = (await here.question(question))["expires_at"]
        patient.clock.pass_time(HOUR)
        done = await here.until(thread, "ThreadFinished")
        late = await here.answer(question, YES)
        shown = await here.question(question)
        log = await here.log(thread)

    assert expires_at == "2026-01-01T01:00:00Z"
    (result,) = results_in(patient.model.requests[1])
    assert "denied" not in result.lower()
    assert (shown["status"], late.status, late.problem) == ("expired", 410, "question-closed")
    assert "expired at 2026-01-01 01:00" in late.json["detail"]
    assert (log[-1]["type"], log[-1]["by"], log[-1]["seq"]) == (
        "AnswerRefused",
        "answer",
        done["seq"] + 1,
    )


async def test_expiry_fires_once_after_a_restart_of_everything(tmp_path: Path) -> None:
    """The timer is in the database: nobody was there when it was due."""
    patient = Patient(expires_after=HOUR, on_expiry="deny")
    async with premises(in_file(tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        await here.asked(thread)
    patient.clock.pass_time(2 * HOUR)
    async with premises(in_file(tmp_path), patient.agent, world=patient.clock.world) as here:
        await here.until(thread, "ThreadFinished")
        types = await here.types(thread)

    assert types.count("QuestionExpired") == 1


@KIND
async def test_escalation_goes_down_the_chain_then_expires(kind: str, tmp_path: Path) -> None:
    """Each adds to the audience and begins a new wait; each fires once, across restarts."""
    patient = Patient(expires_after=HOUR, on_expiry="escalate", escalate_to=("lisa", "boss"))
    async with premises(KINDS[kind](tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        audiences = [(await here.question(question))["audience"]]
        for times in (1, 2):
            await here.stop()
            patient.clock.pass_time(HOUR)
            await here.start()
            await here.until(thread, "QuestionEscalated", times=times)
            await settled(here)
            audiences.append((await here.question(question))["audience"])
        patient.clock.pass_time(HOUR)
        await here.until(thread, "ThreadFinished")
        types = await here.types(thread)
        bodies = [one.body for one in await here.deliveries(thread)]

    assert audiences == [["otto"], ["otto", "lisa"], ["otto", "lisa", "boss"]]
    assert (types.count("QuestionEscalated"), types.count("QuestionExpired")) == (2, 1)
    escalated = [body["to"] for body in bodies if body["kind"] == "question.escalated"]
    assert escalated == [["lisa"], ["boss"]]


@KIND
async def test_chain_keeps_its_own_times_and_reminders_their_number(
    kind: str, tmp_path: Path
) -> None:
    """Two people for an hour, the boss for a day; one reminder for each stage; across restarts."""
    chain = (Escalation(("lisa", "cto"), HOUR), Escalation(("boss",), 24 * HOUR))
    patient = Patient(
        remind_after=HOUR // 4,
        remind_times=1,
        expires_after=2 * HOUR,
        on_expiry="escalate",
        escalate_to=chain,
    )
    waits = [2 * HOUR, HOUR, 24 * HOUR]
    async with premises(KINDS[kind](tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        await here.asked(thread)
        for stage, seconds in enumerate(waits, start=1):
            patient.clock.pass_time(seconds - 1)
            await here.until(thread, "QuestionReminded", times=stage)
            await here.stop()
            patient.clock.pass_time(1)
            await here.start()
            last = stage == len(waits)
            ending = "QuestionExpired" if last else "QuestionEscalated"
            await here.until(thread, ending, times=1 if last else stage)
        await here.until(thread, "ThreadFinished")
        types = await here.types(thread)

    counts = [types.count(f"Question{one}") for one in ("Reminded", "Escalated", "Expired")]
    assert counts == [3, 2, 1]


async def test_answer_in_time_stops_the_timers(tmp_path: Path) -> None:
    """Nothing fires for a question that is settled."""
    patient = Patient(remind_after=HOUR, expires_after=2 * HOUR)
    async with premises(in_memory(tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        await here.answer(await here.asked(thread), YES)
        await here.rested(thread)
        patient.clock.pass_time(24 * HOUR)
        await settled(here)
        types = await here.types(thread)

    assert types[-1] == "ThreadFinished"


async def test_timers_go_on_while_a_thread_is_paused(tmp_path: Path) -> None:
    """People can answer a paused thread's question, so its time runs; nothing else happens."""
    patient = Patient(remind_after=HOUR, expires_after=2 * HOUR)
    async with premises(in_memory(tmp_path), patient.agent, world=patient.clock.world) as here:
        thread = await here.launch()
        await here.asked(thread)
        await here.tell(thread, "pause")
        for kind in ("QuestionReminded", "QuestionExpired"):
            patient.clock.pass_time(HOUR)
            await here.until(thread, kind)
        await settled(here)
        held = await here.rested(thread)

    assert held["status"] == "paused"
    assert len(patient.model.requests) == 1


async def test_two_machines_fire_a_timer_once(tmp_path: Path) -> None:
    """Whoever claims the thread fires it; the other finds nothing due."""
    patient = Patient(remind_after=HOUR)
    tables = MemoryTables()
    other = MemoryStore(tables)
    await other.open()
    engine = Engine(
        other, {"agent": patient.agent}, Hints(other), world=patient.clock.world, options=QUICK
    )
    async with premises(MemoryStore(tables), patient.agent, world=patient.clock.world) as here:
        beside = asyncio.create_task(engine.run())
        threads = [await here.launch() for _ in range(20)]
        for thread in threads:
            await here.asked(thread)
        patient.clock.pass_time(HOUR)
        for thread in threads:
            await here.until(thread, "QuestionReminded")
        await settled(here)
        counts = [(await here.types(one)).count("QuestionReminded") for one in threads]
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
    await other.close()

    assert counts == [1] * 20
