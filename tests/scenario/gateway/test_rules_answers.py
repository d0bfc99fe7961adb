"""Answers: the first valid one wins, and everyone else is told. Over HTTP, with the engine on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent_core import Agent, ScriptedModel, ToolContext, call, calls, contact_human, says, tool
from tests.doubles.stage import results_in
from tests.scenario.gateway.premises import KINDS, NO, YES, in_file, in_memory, premises

KIND = pytest.mark.parametrize("kind", KINDS)


class Till:
    """A till that counts what was paid out."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, float]] = []

        @tool(approval=True)
        async def refund(order: str, amount: float) -> str:
            """Pay the customer back."""
            self.paid.append((order, amount))
            return f"paid {amount:g} for {order}"

        turn = calls(call("refund", order="A1", amount=10))
        self.model = ScriptedModel([turn, says("done")])
        self.agent = Agent("agent", tools=[refund], model=self.model)


@KIND
async def test_first_answer_wins_and_the_others_are_told_who_and_when(
    kind: str, tmp_path: Path
) -> None:
    """Many at once, by two people: one is taken, each of the rest is refused and noted."""
    till = Till()
    async with premises(KINDS[kind](tmp_path), till.agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        told = await asyncio.gather(
            *(
                here.answer(question, value, key=key)
                for value, key in [(YES, "answer"), (NO, "admin")] * 6
            )
        )
        await here.rested(thread)
        shown = await here.question(question)
        log = await here.log(thread)

    taken = [one for one in told if one.status == 200]
    late = [one for one in told if one.status == 409]
    (answered,) = (event for event in log if event["type"] == "QuestionAnswered")
    refused = [event for event in log if event["type"] == "AnswerRefused"]
    assert (len(taken), len(late)) == (1, 11)
    assert {one.json["answered_by"] for one in late} == {answered["by"]} == {shown["answered_by"]}
    assert all(f"answered by {answered['by']} at 20" in one.json["detail"] for one in late)
    assert {event["question"] for event in refused} == {question}
    assert {event["by"] for event in refused} == {"answer", "admin"}
    assert len(refused) == 11
    assert len(till.paid) == (answered["value"] == YES)


async def test_late_answer_to_a_finished_thread_is_refused_and_noted(tmp_path: Path) -> None:
    """The thread stays finished, and its model hears nothing of it."""
    till = Till()
    async with premises(in_file(tmp_path), till.agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.answer(question, YES)
        await here.rested(thread)
        late = await here.answer(question, NO, key="admin")
        after = await here.rested(thread)
        log = await here.log(thread)

    assert (late.status, late.problem) == (409, "already-settled")
    assert after["status"] == "finished"
    assert (log[-1]["type"], log[-1]["by"]) == ("AnswerRefused", "admin")
    assert "answered by answer at" in log[-1]["reason"]
    assert len(till.model.requests) == 2
    assert till.paid == [("A1", 10)]


@pytest.mark.parametrize(
    ("asking", "wrong", "right", "told"),
    [
        ({"kind": "text"}, 7, "blue", ("words", "blue")),
        ({"kind": "text"}, "  ", "blue", ("words", "blue")),
        ({"kind": "yes/no"}, "perhaps", "Yes", ("yes, no", "yes")),
        ({"kind": "choice", "options": ["red", "blue"]}, "green", "blue", ("red, blue", "blue")),
        (
            {
                "kind": "form",
                "schema": {
                    "type": "object",
                    "properties": {"age": {"type": "integer"}},
                    "required": ["age"],
                },
            },
            {"age": "old"},
            {"age": 7},
            ("age", '{"age":7}'),
        ),
    ],
)
async def test_answer_of_the_wrong_shape_is_corrected_and_the_question_stays_open(
    asking: dict[str, Any],
    wrong: Any,  # noqa: ANN401 (any JSON)
    right: Any,  # noqa: ANN401 (any JSON)
    told: tuple[str, str],
    tmp_path: Path,
) -> None:
    """422 says what would fit; the next answer may fit."""
    model = ScriptedModel([calls(call("contact_human", question="Which?", **asking)), says("ok")])
    agent = Agent("agent", tools=[contact_human], model=model)
    async with premises(in_memory(tmp_path), agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        refused = await here.answer(question, wrong)
        between = await here.question(question)
        taken = await here.answer(question, right)
        await here.rested(thread)

    assert (refused.status, refused.problem) == (422, "wrong-shape")
    assert told[0] in refused.json["detail"]
    assert between["status"] == "open"
    assert (taken.status, taken.json["status"]) == (200, "answered")
    assert told[1] in results_in(model.requests[1])[0].replace(" ", "")


async def test_approval_with_edits_runs_what_was_edited(tmp_path: Path) -> None:
    """What was edited is what was approved; an edit that doesn't fit the tool is corrected."""
    till = Till()
    async with premises(in_file(tmp_path), till.agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        bad = await here.answer(question, {**YES, "arguments": {"order": "A1", "amount": "lots"}})
        less = await here.answer(question, {**YES, "arguments": {"order": "A1", "amount": 5}})
        await here.rested(thread)
        log = await here.log(thread)

    assert (bad.status, bad.problem) == (422, "wrong-shape")
    assert "amount" in bad.json["detail"]
    assert less.json["answer"] == {"approved": True, "arguments": {"order": "A1", "amount": 5}}
    assert till.paid == [("A1", 5)]
    (answered,) = (event for event in log if event["type"] == "QuestionAnswered")
    assert answered["digest"]
    assert "paid 5 for A1" in results_in(till.model.requests[1])[0]


async def test_denial_with_a_comment_goes_to_the_model_and_ends_nothing(tmp_path: Path) -> None:
    """The comment is the call's result, by name; the thread goes on to its own end."""
    till = Till()
    async with premises(in_file(tmp_path), till.agent) as here:
        thread = await here.launch()
        await here.answer(await here.asked(thread), NO, comment="ask for the receipt first")
        done = await here.rested(thread)

    (result,) = results_in(till.model.requests[1])
    assert "ask for the receipt first" in result
    assert (done["status"], done["result"]) == ("finished", "done")
    assert till.paid == []


async def test_answer_to_a_paused_thread_counts_and_waits_with_it(tmp_path: Path) -> None:
    """Nothing starts until somebody lets the thread go on."""
    till = Till()
    async with premises(in_file(tmp_path), till.agent) as here:
        thread = await here.launch()
        question = await here.asked(thread)
        await here.tell(thread, "pause")
        taken = await here.answer(question, YES)
        held = await here.rested(thread)
        paid_while_held = list(till.paid)
        await here.tell(thread, "resume")
        done = await here.rested(thread)

    assert (taken.status, held["status"], paid_while_held) == (200, "paused", [])
    assert (done["status"], till.paid) == ("finished", [("A1", 10)])


async def test_question_id_of_a_tools_own_that_is_taken_fails_the_thread_by_name(
    tmp_path: Path,
) -> None:
    """Ids are handles across threads: the second thread fails, says why, and is not tried on."""
    runs: list[str] = []

    @tool
    async def sure(ctx: ToolContext) -> str:
        """Ask under an id of its own."""
        runs.append(ctx.thread.id)
        return str(await ctx.ask("Sure?", id="sure"))

    model = ScriptedModel([calls(call("sure")), says("done")])
    async with premises(in_file(tmp_path), Agent("agent", tools=[sure], model=model)) as here:
        first = await here.launch()
        assert await here.asked(first) == "sure"
        second = await here.rested(await here.launch())
        await here.answer("sure", "yes")
        done = await here.rested(first)

    assert (second["status"], "sure" in second["error"]) == ("failed", True)
    assert (done["status"], runs.count(second["id"])) == ("finished", 1)
