"""`ctx.pause_for`: the answer is the result, the tool runs again, or a handler takes over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agent_core import (
    AlreadySettled,
    Finished,
    NotJson,
    Paused,
    ToolContext,
    says,
    tool,
)
from tests.doubles.stage import Stage, calling_each, expect, log_of, question_of, types_in


async def test_pause_for_next_makes_the_answer_the_result() -> None:
    """The tool doesn't run again."""
    runs = 0

    @tool
    async def sign(ctx: ToolContext) -> str:
        nonlocal runs
        runs += 1
        await ctx.pause_for("event", {"prompt": "Sign it", "document": 7}, key="doc-7", id="sig")

    stage = calling_each(sign)
    paused = expect(await stage.agent.run("go"), Paused)
    (question,) = paused.questions
    assert (question.id, question.kind, question.key) == ("sig", "event", "doc-7")
    assert question.payload == {"document": 7}

    await stage.agent.resume(paused.checkpoint, {"signed": True})

    assert stage.last_results == ['{"signed":true}']
    assert runs == 1


async def test_pause_for_without_words_says_what_it_waits_for() -> None:
    """People see something even when the author gave only data."""

    @tool
    async def sign(ctx: ToolContext) -> str:
        await ctx.pause_for("event", {"document": 7}, key="doc-7")

    (question,) = expect(await calling_each(sign).agent.run("go"), Paused).questions

    assert question.prompt == "Waiting for event doc-7"


async def test_pause_for_self_runs_the_tool_again_knowing_the_answer() -> None:
    """`ctx.resumed` tells the value, who gave it, and how often it has been resumed."""
    seen: list[Any] = []

    @tool
    async def poll(ctx: ToolContext) -> str:
        seen.append(ctx.resumed and (ctx.resumed.value, ctx.resumed.by, ctx.resumed.count))
        if ctx.resumed is None or ctx.resumed.value != "ready":
            await ctx.pause_for("text", "Is it ready?", resume_to="self")
        return "it is ready"

    stage = calling_each(poll)
    outcome = await stage.agent.run("go")
    outcome = await stage.agent.resume(outcome.checkpoint, "not yet", by="otto")
    outcome = await stage.agent.resume(outcome.checkpoint, "ready", by="anna")

    assert expect(outcome, Finished).result == "done"
    assert seen == [None, ("not yet", "otto", 1), ("ready", "anna", 2)]
    assert stage.last_results == ["it is ready"]


async def test_a_tool_that_resumes_too_often_is_ended() -> None:
    """`max_resumes` bounds a loop of questions; the model is told."""

    @tool
    async def poll(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "Is it ready?", resume_to="self", max_resumes=2)

    stage = calling_each(poll)
    outcome = await stage.agent.run("go")
    for _ in range(2):
        outcome = await stage.agent.resume(outcome.checkpoint, "no")

    assert expect(outcome, Finished).result == "done"
    (failed,) = (event for event in log_of(outcome) if event["type"] == "ToolFailed")
    assert failed["reason"] == "too_many_resumes"
    assert "asked too many times" in stage.last_results[0]


async def test_pause_for_an_event_goes_on_in_the_agents_handler() -> None:
    """The handler gets the answer, or the context and the answer; its result is the call's."""
    runs = 0

    @tool
    async def pay(ctx: ToolContext) -> str:
        nonlocal runs
        runs += 1
        await ctx.pause_for("event", {"invoice": 7}, resume_to={"event": "paid"})

    @tool
    async def ship(ctx: ToolContext) -> str:
        await ctx.pause_for("event", {"parcel": 8}, resume_to={"event": "shipped"})

    stage = calling_each(pay, ship)

    @stage.agent.on("paid")
    async def paid(ctx: ToolContext, answer: Mapping[str, Any]) -> str:
        return f"{answer['amount']} came in for {ctx.thread.id}"

    @stage.agent.on("shipped")
    def shipped(answer: Mapping[str, Any]) -> str:
        return f"parcel {answer['number']}"

    paused = await stage.agent.run("go")
    await stage.agent.resume(paused.checkpoint, {"q_1": {"amount": 5}, "q_2": {"number": 9}})

    assert stage.last_results == ["5 came in for th_1", "parcel 9"]
    assert runs == 1


async def test_a_handler_that_asks_is_itself_run_again_not_the_tool() -> None:
    """What the tool did before its pause is not done twice."""
    runs: list[str] = []

    @tool
    async def pay(ctx: ToolContext) -> str:
        runs.append("tool")
        await ctx.pause_for("text", "How much?", resume_to={"event": "paid"})

    stage = calling_each(pay)

    @stage.agent.on("paid")
    async def paid(ctx: ToolContext, answer: str) -> str:
        runs.append("handler")
        return f"{answer} from {await ctx.ask('Whose account?')}"

    outcome = await stage.agent.run("go")
    outcome = await stage.agent.resume(outcome.checkpoint, "5")
    outcome = await stage.agent.resume(outcome.checkpoint, "Otto's")

    assert expect(outcome, Finished).result == "done"
    assert stage.last_results == ["5 from Otto's"]
    assert runs == ["tool", "handler", "handler"]


async def test_a_handler_that_fails_gives_the_call_its_result() -> None:
    """An exception in a handler is a result like any other."""

    @tool
    async def pay(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "How much?", resume_to={"event": "paid"})

    stage = calling_each(pay)

    @stage.agent.on("paid")
    async def paid(answer: str) -> str:
        raise RuntimeError(f"{answer} is not enough")

    paused = await stage.agent.run("go")
    await stage.agent.resume(paused.checkpoint, "5")

    assert stage.last_results == ["The tool failed: RuntimeError: 5 is not enough"]


@pytest.mark.parametrize(
    ("resume_to", "problem"),
    [
        ({"event": "nobody"}, "the agent has no handler for 'nobody': declare it with @agent.on"),
        ({"event": "nobody", "more": "x"}, "resume_to is"),
        ("elsewhere", "resume_to is"),
    ],
)
async def test_a_pause_that_leads_nowhere_is_refused_where_it_is_asked(
    resume_to: Any,  # noqa: ANN401 (what no one should pass)
    problem: str,
) -> None:
    """Better now than when the answer comes."""

    @tool
    async def pay(ctx: ToolContext) -> str:
        await ctx.pause_for("text", "How much?", resume_to=resume_to)

    stage = calling_each(pay)
    outcome = await stage.agent.run("go")

    assert problem in stage.last_results[0]
    assert "QuestionAsked" not in types_in(outcome)


async def test_a_payload_that_is_not_json_is_refused_with_its_path_and_nobody_is_asked() -> None:
    """The model learns that the tool failed, not that it took effect."""

    @tool
    async def sign(ctx: ToolContext) -> str:
        await ctx.pause_for("event", {"prompt": "Sign", "document": {"pages": [1, {2}]}})

    stage = calling_each(sign)
    outcome = await stage.agent.run("go")

    (told,) = stage.last_results
    assert "payload.document.pages[1] is not JSON: a Python set" in told
    assert "took effect" not in told
    assert "QuestionAsked" not in types_in(outcome)


def test_metadata_that_is_not_json_is_refused_with_its_path() -> None:
    """Where it is passed, before anything runs."""
    stage = Stage([says("done")])

    with pytest.raises(NotJson, match=r"metadata\.tags is not JSON: a Python tuple: pass a list"):
        stage.agent.launch("go", metadata={"tags": ("a", "b")})


async def test_a_tool_that_pauses_for_two_things_at_once_is_refused() -> None:
    """Only one answer can be the result; nobody is left with a question that leads nowhere."""

    @tool
    async def sign(ctx: ToolContext) -> str:
        await asyncio.gather(ctx.pause_for("text", "A?"), ctx.pause_for("text", "B?"))
        return "never"

    stage = calling_each(sign)
    outcome = await stage.agent.run("go")

    assert expect(outcome, Finished).result == "done"
    assert "QuestionAsked" not in types_in(outcome)


async def test_withdrawing_one_of_several_asks_of_a_tool_ends_them_all() -> None:
    """The call is settled, so the others would be answered in vain."""

    @tool
    async def book(ctx: ToolContext) -> str:
        await asyncio.gather(ctx.ask("Where to?"), ctx.ask("When?"))
        return "booked"

    stage = calling_each(book)
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)
    await thread.withdraw("q_1")

    outcome = await thread.run()

    assert expect(outcome, Finished).result == "done"
    with pytest.raises(AlreadySettled):
        await thread.answer({"q_2": "today"})


async def test_a_tool_that_catches_exceptions_still_pauses() -> None:
    """A broad `except Exception` around an ask doesn't swallow the pause."""

    @tool
    async def careful(ctx: ToolContext) -> str:
        try:
            return str(await ctx.ask("Well?"))
        except Exception:  # noqa: BLE001 (that is the point)
            return "swallowed"

    stage = calling_each(careful)
    paused = await stage.agent.run("go")
    assert question_of(paused)

    await stage.agent.resume(paused.checkpoint, "fine")

    assert stage.last_results == ["fine"]


async def test_a_tool_may_clean_up_when_it_pauses() -> None:
    """`finally` runs, and what it returns there doesn't count as the result."""
    deeds: list[str] = []

    @tool
    async def tidy(ctx: ToolContext) -> str:
        try:
            return str(await ctx.ask("Well?"))
        finally:
            await asyncio.sleep(0)
            deeds.append("closed")

    stage = calling_each(tidy)
    paused = await stage.agent.run("go")
    await stage.agent.resume(paused.checkpoint, "fine")

    assert deeds == ["closed", "closed"]
    assert stage.last_results == ["fine"]


async def test_a_time_limit_does_not_count_the_wait_for_people() -> None:
    """The limit is on the tool's own work; a pause ends its run."""

    @tool(timeout=5)
    async def ask(ctx: ToolContext) -> str:
        return str(await ctx.ask("Well?"))

    stage = calling_each(ask)
    paused = await stage.agent.run("go")
    stage.world.pass_time(86_400)
    await stage.agent.resume(paused.checkpoint, "fine")

    assert stage.last_results == ["fine"]
