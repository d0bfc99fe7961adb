"""Waiting: reminders, escalation and expiry follow from the log, and fire once."""

from __future__ import annotations

import asyncio

import pytest

from agent_core import (
    Finished,
    Paused,
    ToolContext,
    Waiting,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from agent_core.thread import timers
from tests.doubles.stage import APPROVED, Stage, expect, log_of, question_of, types_in

DAY = 86_400


@tool(approval=True)
async def pay() -> str:
    """Pay somebody."""
    return "paid"


def waiting(rule: Waiting) -> Stage:
    """Set up an agent that waits for an approval, by this rule."""
    return Stage([calls(call("pay")), says("done")], pay, waiting=rule)


async def test_a_pause_costs_nothing_and_an_answer_a_year_later_resumes() -> None:
    """Without a rule, a question waits for ever."""
    stage = waiting(Waiting())
    paused = await stage.agent.run("go")
    stage.world.pass_time(365 * DAY)
    still = await stage.agent.tick(paused.checkpoint)
    assert still.checkpoint == paused.checkpoint

    outcome = await stage.deploy(pay).resume(still.checkpoint, APPROVED)

    assert expect(outcome, Finished).result == "done"
    assert stage.last_results == ["paid"]


async def test_a_reminder_is_given_once_when_due_and_again_after_as_long() -> None:
    """Never early, never twice for the same moment."""
    stage = waiting(Waiting(remind_after=60))
    outcome = await stage.agent.run("go")
    reminded = []
    for seconds in (59, 1, 0, 59, 1):
        stage.world.pass_time(seconds)
        outcome = await stage.agent.tick(outcome.checkpoint)
        reminded.append(types_in(outcome).count("QuestionReminded"))

    assert reminded == [0, 1, 1, 1, 2]


async def test_after_a_long_outage_people_are_reminded_once_not_sixty_times() -> None:
    """A restart is no reason to shout."""
    stage = waiting(Waiting(remind_after=60))
    paused = await stage.agent.run("go")
    stage.world.pass_time(30 * DAY)

    outcome = await stage.agent.tick(paused.checkpoint)

    assert types_in(outcome).count("QuestionReminded") == 1


@pytest.mark.parametrize(
    ("rule", "meaning"),
    [("tell_agent", "this is not a denial"), ("deny", "that counts as a no here")],
)
async def test_on_expiry_the_agent_is_told_that_nobody_answered(rule: str, meaning: str) -> None:
    """Expired is not denied, unless the author said that it should count as a no."""
    stage = waiting(Waiting(expires_after=60, on_expiry=rule))  # type: ignore[arg-type]
    paused = await stage.agent.run("go")
    stage.world.pass_time(60)

    outcome = await stage.agent.tick(paused.checkpoint)

    (told,) = stage.last_results
    assert expect(outcome, Finished).result == "done"
    assert types_in(outcome).count("QuestionExpired") == 1
    assert "QuestionAnswered" not in types_in(outcome)
    assert told == f"Nobody answered in time: {meaning}. The tool was not run."


async def test_a_question_does_not_expire_before_its_time() -> None:
    """To the second."""
    stage = waiting(Waiting(expires_after=60))
    paused = await stage.agent.run("go")
    stage.world.pass_time(59.999)

    assert isinstance(await stage.agent.tick(paused.checkpoint), Paused)


async def test_on_expiry_wait_goes_on_waiting() -> None:
    """The time is then only a wish."""
    stage = waiting(Waiting(expires_after=60, on_expiry="wait"))
    paused = await stage.agent.run("go")
    stage.world.pass_time(DAY)

    outcome = await stage.agent.tick(paused.checkpoint)

    assert question_of(outcome) == question_of(paused)


async def test_on_expiry_escalate_asks_the_next_in_the_chain_then_expires() -> None:
    """Each gets the whole time; at the end of the chain the agent is told."""
    rule = Waiting(expires_after=60, on_expiry="escalate", escalate_to=("boss", "board"))
    stage = waiting(rule)
    outcome = await stage.agent.run("go")
    seen = []
    for _ in range(3):
        stage.world.pass_time(60)
        outcome = await stage.agent.tick(outcome.checkpoint)
        seen.append(types_in(outcome)[-1] if outcome.is_paused else "end")

    chain = [event["to"] for event in log_of(outcome) if event["type"] == "QuestionEscalated"]
    assert seen == ["QuestionEscalated", "QuestionEscalated", "end"]
    assert chain == [["boss"], ["board"]]
    assert "not a denial" in stage.last_results[0]


async def test_an_escalated_question_keeps_its_id_and_takes_the_first_answer_of_anybody() -> None:
    """It is the same question, with more people."""
    stage = waiting(Waiting(expires_after=60, on_expiry="escalate", escalate_to=("boss",)))
    paused = await stage.agent.run("go")
    stage.world.pass_time(60)
    escalated = await stage.agent.tick(paused.checkpoint)
    assert question_of(escalated) == question_of(paused)

    outcome = await stage.agent.resume(escalated.checkpoint, APPROVED, by="otto")

    assert expect(outcome, Finished).result == "done"


async def test_expiry_of_one_of_several_asks_of_a_tool_ends_them_all() -> None:
    """The call is settled; whoever was asked the other question is told, not left alone."""

    @tool
    async def book(ctx: ToolContext) -> str:
        await asyncio.gather(ctx.ask("Where?", waiting=Waiting(expires_after=60)), ctx.ask("When?"))
        return "booked"

    stage = Stage([calls(call("book")), says("done")], book)
    paused = await stage.agent.run("go")
    stage.world.pass_time(60)

    outcome = expect(await stage.agent.tick(paused.checkpoint), Finished)

    assert types_in(outcome)[6:8] == ["QuestionExpired", "QuestionWithdrawn"]
    assert not outcome.state.open_questions


async def test_the_tool_that_had_run_up_to_its_question_is_not_told_as_never_run() -> None:
    """What it did before asking has been done."""

    @tool
    async def send(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "Did it arrive?", waiting=Waiting(expires_after=60))

    stage = Stage([calls(call("send")), says("done")], send)
    paused = await stage.agent.run("go")
    stage.world.pass_time(60)

    await stage.agent.tick(paused.checkpoint)

    (told,) = stage.last_results
    assert "was not run" not in told
    assert "had run up to its question" in told


async def test_each_question_has_its_own_clock() -> None:
    """One expires, the other goes on waiting."""

    @tool
    async def ask(ctx: ToolContext, seconds: int) -> str:
        return str(await ctx.ask("Well?", waiting=Waiting(expires_after=seconds)))

    stage = Stage([calls(call("ask", seconds=10), call("ask", seconds=100)), says("done")], ask)
    paused = await stage.agent.run("go")
    stage.world.pass_time(50)

    outcome = expect(await stage.agent.tick(paused.checkpoint), Paused)

    assert [question.id for question in outcome.questions] == ["q_2"]
    assert len(stage.model.requests) == 1


async def test_timers_fire_also_while_the_thread_is_paused_and_nothing_runs() -> None:
    """People's time runs whether or not the agent does."""
    stage = waiting(Waiting(expires_after=60))
    asked = await stage.agent.run("go")
    held = await stage.agent.pause(asked.checkpoint)
    stage.world.pass_time(60)

    expired = expect(await stage.agent.tick(held.checkpoint), Paused)
    assert (expired.why, expired.questions) == ("paused", ())
    outcome = await stage.agent.resume(expired.checkpoint)

    assert expect(outcome, Finished).result == "done"


async def test_a_store_is_told_when_the_next_timer_is_due() -> None:
    """So that it can wake the thread then, and not before."""
    stage = waiting(Waiting(remind_after=30, expires_after=100))
    paused = await stage.agent.run("go")
    start = stage.world.moment

    first = timers.next_due(paused.state)
    stage.world.pass_time(30)
    reminded = await stage.agent.tick(paused.checkpoint)
    second = timers.next_due(reminded.state)

    assert (first, second) == (start + 30_000, start + 60_000)


async def test_without_waiting_a_question_expires_as_news() -> None:
    """The model hears of it as of a message."""
    stage = Stage(
        [calls(call("contact_human", question="Well?", wait=False)), says("then"), says("done")],
        contact_human,
        waiting=Waiting(expires_after=60),
    )
    paused = await stage.agent.run("go")
    stage.world.pass_time(60)

    outcome = expect(await stage.agent.tick(paused.checkpoint), Finished)

    assert outcome.result == "done"
    assert "was not answered in time" in stage.model.requests[-1].messages[-1]["content"]


async def test_a_tick_of_a_thread_that_waits_for_nothing_does_nothing() -> None:
    """Also when it is finished."""
    stage = Stage([says("done")])
    finished = await stage.agent.run("go")

    assert (await stage.agent.tick(finished.checkpoint)).checkpoint == finished.checkpoint
