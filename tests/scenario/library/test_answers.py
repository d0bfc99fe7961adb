"""Answers: the first valid one wins; every other is told why not, in words."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_core import (
    AlreadySettled,
    AmbiguousAnswer,
    Finished,
    Paused,
    Refused,
    ToolContext,
    UnknownQuestion,
    WrongShape,
    call,
    calls,
    says,
    tool,
)
from tests.doubles.stage import APPROVED, DENIED, Stage, expect, log_of, question_of, types_in

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
    "required": ["city"],
}
ASKS: dict[str, dict[str, Any]] = {
    "text": {},
    "yes/no": {},
    "choice": {"options": ["Red", "Green"]},
    "approval": {},
    "form": {"schema": SCHEMA},
    "event": {},
}


@tool
async def ask(ctx: ToolContext, kind: Any, prompt: str = "Well?") -> object:  # noqa: ANN401 (a kind)
    """Ask people something, of any kind."""
    return await ctx.ask(prompt, kind=kind, **ASKS[kind])


@tool(approval=True)
async def act(amount: int) -> str:
    """Do something that people must allow."""
    return f"did {amount}"


def asking(*kinds: str) -> Stage:
    """Set up an agent that asks such questions at once."""
    return Stage([calls(*(call("ask", kind=kind) for kind in kinds)), says("done")], ask)


async def test_the_first_answer_wins_and_the_second_is_told_by_whom_and_when() -> None:
    """Also when the thread has gone on, or finished, since."""
    stage = asking("text")
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)
    key = question_of(paused)
    await thread.answer({key: "yes"}, by="otto")

    told = "question q_1 was answered by otto at 2026-01-01 00:00 UTC"
    with pytest.raises(AlreadySettled, match=told):
        await thread.answer({key: "no"}, by="anna")
    finished = await thread.run()
    with pytest.raises(AlreadySettled, match=told):
        await stage.agent.resume(finished.checkpoint, {key: "no"}, by="anna")

    assert types_in(finished).count("QuestionAnswered") == 1
    assert stage.last_results == ["yes"]


async def test_an_unaddressed_second_answer_is_told_the_same() -> None:
    """Whoever answers without an id learns who was first, too."""
    stage = asking("text")
    paused = await stage.agent.run("go")
    finished = await stage.agent.resume(paused.checkpoint, "yes", by="otto")

    with pytest.raises(AlreadySettled, match="answered by otto at 2026-01-01"):
        await stage.agent.resume(finished.checkpoint, "no")


async def test_the_same_answer_twice_runs_the_tool_once() -> None:
    """A repeated approval is refused; it never repeats the action."""
    deeds: list[str] = []

    @tool(approval=True)
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    await thread.run()
    await thread.answer(APPROVED)
    with pytest.raises(AlreadySettled):
        await thread.answer(APPROVED)
    await thread.run()
    with pytest.raises(AlreadySettled):
        await thread.answer(APPROVED)

    assert deeds == ["paid"]


async def test_of_two_answers_at_the_same_time_one_wins() -> None:
    """Both at once: exactly one is taken."""
    stage = asking("text")
    thread = stage.agent.launch("go")
    await thread.run()

    ends = await asyncio.gather(
        thread.answer("one", by="anna"), thread.answer("two", by="otto"), return_exceptions=True
    )

    assert [type(end) for end in ends] == [type(None), AlreadySettled]


async def test_an_answer_after_expiry_is_refused_and_explained() -> None:
    """Too late is told as too late."""
    stage = asking("text")
    paused = await stage.agent.run("go")
    expired = await stage.agent.expire(paused.checkpoint, question_of(paused))

    with pytest.raises(AlreadySettled, match="question q_1 was expired at 2026-01-01"):
        await stage.agent.resume(expired.checkpoint, {"q_1": "here I am"})


async def test_an_answer_after_withdrawal_is_refused_and_says_by_whom() -> None:
    """Taken back is told as taken back."""
    stage = asking("text")
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)
    await thread.withdraw("q_1", by="otto")

    with pytest.raises(AlreadySettled, match="withdrawn by otto"):
        await thread.answer({"q_1": "here I am"})


@pytest.mark.parametrize(
    ("kind", "answer", "correction"),
    [
        ("text", "  ", "Please answer in words"),
        ("text", 42, "Please answer in words"),
        ("text", None, "Please answer in words"),
        ("yes/no", "perhaps", "Please choose one of: yes, no"),
        ("choice", "Blue", "Please choose one of: Red, Green"),
        ("choice", True, "Please choose one of: Red, Green"),
        ("approval", "sure", "Please approve or deny"),
        ("approval", {"approved": "yes"}, "Please approve or deny"),
        ("approval", {"approved": True, "extra": 1}, "Please approve or deny"),
        ("approval", {"approved": True, "arguments": {}}, "Please approve or deny"),
        ("approval", {"approved": False, "arguments": {}}, "Please approve or deny"),
        ("form", "Bonn", "Please fill in the form"),
        ("form", {"zip": "53111"}, "city"),
        ("form", {"city": "Bonn", "zip": "five"}, "zip: "),
        ("event", "done", "An event's answer is an object"),
        ("event", {"when": {1, 2}}, "the answer.when is not JSON: a Python set"),
        ("text", float("nan"), "the answer is not JSON"),
    ],
)
async def test_an_answer_of_the_wrong_shape_is_corrected_and_the_question_stays_open(
    kind: str, answer: object, correction: str
) -> None:
    """The message tells a person what would fit, and the next answer may be right."""
    stage = asking(kind)
    paused = expect(await stage.agent.run("go"), Paused)
    thread = stage.agent.open(paused.checkpoint)

    with pytest.raises(WrongShape, match=correction):
        await thread.answer(answer)

    assert expect(thread.outcome(), Paused).questions == paused.questions
    assert thread.checkpoint == paused.checkpoint


@pytest.mark.parametrize(
    ("kind", "answer", "result"),
    [
        ("text", "hello", "hello"),
        ("yes/no", "yes", "yes"),
        ("yes/no", " No ", "no"),
        ("yes/no", True, "yes"),
        ("yes/no", False, "no"),
        ("choice", "Green", "Green"),
        ("choice", "green", "Green"),
        ("approval", {"approved": True}, '{"approved":true}'),
        ("approval", False, '{"approved":false}'),
        ("form", {"city": "Bonn", "zip": "53111"}, '{"city":"Bonn","zip":"53111"}'),
        ("event", {"state": "paid"}, '{"state":"paid"}'),
    ],
)
async def test_an_answer_that_fits_is_brought_to_its_one_form(
    kind: str, answer: object, result: str
) -> None:
    """What the tool gets doesn't depend on how the person spelled it."""
    stage = asking(kind)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, answer)

    assert stage.last_results == [result]


async def test_an_answer_to_a_question_that_was_never_asked_is_a_named_error() -> None:
    """An unknown id is never ignored in silence, and the known one beside it is not taken."""
    stage = asking("text", "text")
    paused = expect(await stage.agent.run("go"), Paused)
    thread = stage.agent.open(paused.checkpoint)

    with pytest.raises(UnknownQuestion, match="never asked a question 'q_99'"):
        await thread.answer({"q_1": "yes", "q_99": "no"})
    with pytest.raises(Refused):
        await thread.answer({"q_99": "no"})
    with pytest.raises(UnknownQuestion):
        await thread.withdraw("q_99")
    with pytest.raises(UnknownQuestion):
        await thread.expire("q_99")

    assert expect(thread.outcome(), Paused).questions == paused.questions


async def test_an_unaddressed_answer_to_two_questions_is_asked_which_one() -> None:
    """Better to ask back than to guess."""
    stage = asking("yes/no", "yes/no")
    paused = await stage.agent.run("go")

    with pytest.raises(AmbiguousAnswer, match=r"several questions are open \(q_1, q_2\)"):
        await stage.agent.resume(paused.checkpoint, "yes")


async def test_answering_one_leaves_the_others_open() -> None:
    """Each question has its own end."""
    stage = asking("text", "text", "text")
    paused = await stage.agent.run("go")

    after = expect(await stage.agent.resume(paused.checkpoint, {"q_2": "b"}), Paused)

    assert [question.id for question in after.questions] == ["q_1", "q_3"]


async def test_parallel_questions_never_get_each_others_answers() -> None:
    """Answered in any order, one by one, each call has its own answer."""
    stage = asking("text", "text", "text")
    outcome = await stage.agent.run("go")

    for key, value in (("q_3", "c"), ("q_1", "a"), ("q_2", "b")):
        outcome = await stage.agent.resume(outcome.checkpoint, {key: value})

    assert expect(outcome, Finished).result == "done"
    assert stage.last_results == ["a", "b", "c"]


async def test_if_one_of_several_answers_is_refused_none_is_taken() -> None:
    """All or nothing: a person who answers a form of five sees one clear error."""
    stage = asking("text", "yes/no")
    paused = await stage.agent.run("go")
    thread = stage.agent.open(paused.checkpoint)

    with pytest.raises(WrongShape):
        await thread.answer({"q_1": "fine", "q_2": "perhaps"})

    assert thread.checkpoint == paused.checkpoint


async def test_who_answered_and_what_they_added_is_in_the_log() -> None:
    """An audit needs the person, the time and the words."""
    stage = asking("text")
    paused = await stage.agent.run("go")
    stage.world.pass_time(90)

    outcome = await stage.agent.resume(paused.checkpoint, "yes", by="otto", comment="gladly")

    (answered,) = (e for e in log_of(outcome) if e["type"] == "QuestionAnswered")
    at = datetime.fromtimestamp(answered["at"] / 1000, UTC)
    assert at == datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)
    assert (answered["by"], answered["comment"], answered["value"]) == ("otto", "gladly", "yes")


async def test_an_answer_to_a_paused_thread_is_kept_until_it_goes_on() -> None:
    """People may decide while the thread is held; nothing runs before it is let go."""
    deeds: list[str] = []

    @tool(approval=True)
    async def pay() -> str:
        deeds.append("paid")
        return "paid"

    stage = Stage([calls(call("pay")), says("done")], pay)
    thread = stage.agent.launch("go")
    await thread.run()
    await thread.pause(by="otto")
    await thread.answer(APPROVED)
    await thread.run()
    assert deeds == []

    await thread.resume()
    await thread.run()

    assert deeds == ["paid"]


async def test_denied_and_approved_together() -> None:
    """One turn, two fates."""
    stage = Stage([calls(call("act", amount=1), call("act", amount=2)), says("done")], act)
    paused = await stage.agent.run("go")

    await stage.agent.resume(paused.checkpoint, {"q_1": DENIED, "q_2": APPROVED}, by="otto")

    assert stage.last_results == ["Denied by otto. The tool was not run.", "did 2"]
