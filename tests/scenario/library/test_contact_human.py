"""`contact_human`: how a model asks people, in every shape, waiting or not."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core import (
    Finished,
    Option,
    Paused,
    WrongShape,
    call,
    calls,
    contact_human,
    says,
    tool,
)
from tests.doubles.stage import Stage, expect, question_of, said_to, types_in

SCHEMA = {"properties": {"city": {"type": "string"}}, "required": ["city"]}


def contacting(**arguments: Any) -> Stage:  # noqa: ANN401 (of contact_human)
    """Set up an agent that asks once, and then has two more turns."""
    return Stage(
        [calls(call("contact_human", **arguments)), says("then"), says("done")], contact_human
    )


async def test_everything_that_the_model_says_about_its_question_reaches_people() -> None:
    """Question, context, whom to ask and how urgent it is."""
    stage = contacting(
        question="May we ship?", context="Order 7 is late.", to=["anna", "ops"], urgency="high"
    )

    (question,) = expect(await stage.agent.run("go"), Paused).questions

    assert (question.prompt, question.context) == ("May we ship?", "Order 7 is late.")
    assert (question.to, question.urgency) == (("anna", "ops"), "high")
    assert (question.kind, question.wait, question.tool) == ("text", True, "")


@pytest.mark.parametrize(
    ("asked", "answer", "result"),
    [
        ({"kind": "text"}, "well", "well"),
        ({}, "well", "well"),
        ({"kind": "yes/no"}, "Yes", "yes"),
        ({"kind": "choice", "options": ["red", "green"]}, "green", "green"),
        ({"kind": "form", "schema": SCHEMA}, {"city": "Bonn"}, '{"city":"Bonn"}'),
    ],
)
async def test_the_answer_is_the_calls_result(
    asked: dict[str, Any], answer: object, result: str
) -> None:
    """Each kind of question takes its own shape of answer."""
    stage = contacting(question="Well?", **asked)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, answer)

    assert stage.last_results == [result]


async def test_a_comment_on_an_answer_is_shown_to_the_model() -> None:
    """What people add is often the point."""
    stage = contacting(question="Well?", kind="yes/no")
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, "no", comment="not before Monday")

    assert stage.last_results == ["no\n(Comment: not before Monday)"]


async def test_options_have_names_and_descriptions() -> None:
    """Or only names."""
    stage = contacting(
        question="Which?",
        kind="choice",
        options=[{"name": "a", "description": "the first"}, {"name": "b"}, "c"],
    )

    (question,) = expect(await stage.agent.run("go"), Paused).questions

    assert question.options == (Option("a", "the first"), Option("b"), Option("c"))


async def test_an_answer_that_does_not_fit_the_question_is_corrected() -> None:
    """The same rules as for any question."""
    stage = contacting(question="Where?", kind="form", schema=SCHEMA)
    paused = await stage.agent.run("go")

    with pytest.raises(WrongShape, match="city"):
        await stage.agent.resume(paused.checkpoint, {"town": "Bonn"})


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"kind": "choice"}, "a choice needs options"),
        ({"kind": "choice", "options": []}, "a choice needs options"),
        ({"kind": "choice", "options": ["a", "a"]}, "two options have the same name"),
        ({"kind": "form"}, "a form needs a JSON schema"),
        ({"kind": "form", "schema": {"type": "string"}}, "describes an object, not 'string'"),
        ({"kind": "form", "schema": {"properties": []}}, "schema is not usable"),
        ({"kind": "text", "schema": SCHEMA}, "a schema belongs to a form"),
        ({"kind": "poll"}, "kind: Input should be"),
        ({"urgency": "asap"}, "urgency: Input should be"),
        ({"to": "anna"}, "to: Input should be a valid list"),
        ({"question": " "}, "a question needs words"),
    ],
)
async def test_a_question_that_cannot_be_asked_is_told_to_the_model(
    asked: dict[str, Any], told: str, *, wait: bool
) -> None:
    """It may try again in better shape; nobody is bothered."""
    stage = contacting(**{"question": "Well?", **asked, "wait": wait})

    outcome = await stage.agent.run("go")

    assert expect(outcome, Finished).result == "then"
    assert told in stage.last_results[0]
    assert "QuestionAsked" not in types_in(outcome)


async def test_without_waiting_the_model_goes_on_and_the_answer_comes_as_a_message() -> None:
    """The thread doesn't finish until the question is settled."""
    stage = contacting(question="May we ship?", kind="yes/no", wait=False)
    paused = expect(await stage.agent.run("go"), Paused)
    (question,) = paused.questions
    assert not question.wait
    assert stage.last_results == [
        f"Asked (question {question.id}). Go on; the answer will come as a message."
    ]

    outcome = expect(await stage.agent.resume(paused.checkpoint, "yes", by="anna"), Finished)

    assert outcome.result == "done"
    assert said_to(stage.model.requests[-1])[-1] == (
        "user",
        '[your question "May we ship?" was answered by anna]\nyes',
    )


async def test_without_waiting_other_tools_go_on_running() -> None:
    """The model works while people think."""
    deeds: list[int] = []

    @tool
    async def work(n: int) -> str:
        deeds.append(n)
        return "ok"

    stage = Stage(
        [
            calls(call("contact_human", question="Well?", wait=False), call("work", n=1)),
            calls(call("work", n=2)),
            says("waiting"),
        ],
        contact_human,
        work,
    )

    expect(await stage.agent.run("go"), Paused)

    assert deeds == [1, 2]
    assert len(stage.model.requests) == 3


@pytest.mark.parametrize(
    ("end", "told"),
    [("expire", "was not answered in time"), ("withdraw", "was withdrawn] not needed")],
)
async def test_without_waiting_a_question_that_ends_unanswered_is_told_and_frees_the_thread(
    end: str, told: str
) -> None:
    """The model hears of every end, then the thread may finish."""
    stage = contacting(question="May we ship?", wait=False)
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)

    if end == "expire":
        await thread.expire(question_of(paused))
    else:
        await thread.withdraw(question_of(paused), reason="not needed")
    outcome = await thread.run()

    assert expect(outcome, Finished).result == "done"
    assert told in said_to(stage.model.requests[-1])[-1][1]


async def test_without_waiting_a_message_is_answered_while_the_question_is_open() -> None:
    """Nothing stands still for such a question."""
    stage = contacting(question="May we ship?", wait=False)
    paused = await stage.agent.run("go")

    outcome = expect(await stage.agent.say(paused.checkpoint, "how is it going?"), Paused)

    assert len(stage.model.requests) == 3
    assert question_of(outcome) == question_of(paused)


async def test_nothing_that_a_model_writes_chooses_more_than_names() -> None:
    """`to` holds names or roles as text; who they are is the operator's to say."""
    stage = contacting(question="Well?", to=["evil@example.com"])

    (question,) = expect(await stage.agent.run("go"), Paused).questions

    assert question.to == ("evil@example.com",)
    assert "address" not in contact_human.schema()["function"]["parameters"]["properties"]
