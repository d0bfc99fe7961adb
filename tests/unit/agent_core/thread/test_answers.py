"""Answers: what fits a question, in which form, and how people are helped when it doesn't."""

from __future__ import annotations

import pytest

from agent_core.errors import AlreadySettled, AmbiguousAnswer, UnknownQuestion, WrongShape
from agent_core.json_values import Json, JsonObject
from agent_core.thread.answers import shape_answer, sort_answers
from agent_core.thread.questions import YES_NO, Option, Question
from tests.unit.agent_core.thread.logs import (
    CALL_IN,
    RUNNING,
    SPOKEN,
    answered,
    approval,
    ask,
    asked,
    expired,
    state_of,
)

TEXT = ask()
YES_OR_NO = ask(kind="choice", options=YES_NO)
COLOUR = ask(kind="choice", options=[Option("Red", "warm"), Option("blue"), Option("BLUE")])
FORM = ask(
    kind="form",
    schema={
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1}, "mail": {"format": "email"}},
        "required": ["n"],
    },
)
EVENT = ask(kind="event")


def checked(tool: str, arguments: JsonObject) -> JsonObject:
    """Check edited arguments as the tool refund would."""
    if set(arguments) != {"order"}:
        raise WrongShape(f"{tool} takes an order")
    return {"order": str(arguments["order"])}


@pytest.mark.parametrize(
    ("question", "answer", "shaped"),
    [
        (TEXT, "blue", "blue"),
        (TEXT, " as it is ", " as it is "),
        (YES_OR_NO, "yes", "yes"),
        (YES_OR_NO, " NO ", "no"),
        (YES_OR_NO, True, "yes"),
        (YES_OR_NO, False, "no"),
        (COLOUR, "Red", "Red"),
        (COLOUR, "red", "Red"),
        (COLOUR, "RED\n", "Red"),
        (COLOUR, "blue", "blue"),
        (COLOUR, "BLUE", "BLUE"),
        (approval(), True, {"approved": True}),
        (approval(), False, {"approved": False}),
        (approval(), {"approved": True}, {"approved": True}),
        (approval(), {"approved": False}, {"approved": False}),
        (
            approval(),
            {"approved": True, "arguments": {"order": 9}},
            {"approved": True, "arguments": {"order": "9"}},
        ),
        (FORM, {"n": 3}, {"n": 3}),
        (
            FORM,
            {"n": 3, "mail": "a@example.com", "more": [1]},
            {"n": 3, "mail": "a@example.com", "more": [1]},
        ),
        (ask(kind="form"), {"anything": None}, {"anything": None}),
        (EVENT, {"ok": True}, {"ok": True}),
    ],
)
def test_what_fits_is_brought_to_its_one_form(
    question: Question, answer: object, shaped: Json
) -> None:
    """Whatever the channel: a word, a button, a form."""
    assert shape_answer(question, answer, checked) == shaped


_WORDS = r"^Please answer in words\.$"
_APPROVE = r'^Please approve or deny: .*"approved": true.*"approved": false.*"arguments"\.$'
_COLOURS = r"^Please choose one of: Red, blue, BLUE\.$"


@pytest.mark.parametrize(
    ("question", "answer", "correction"),
    [
        (TEXT, "", _WORDS),
        (TEXT, " \n", _WORDS),
        (TEXT, 7, _WORDS),
        (TEXT, None, _WORDS),
        (TEXT, {"text": "x"}, _WORDS),
        (YES_OR_NO, "maybe", r"^Please choose one of: yes, no\.$"),
        (YES_OR_NO, 1, r"^Please choose one of: yes, no\.$"),
        (COLOUR, "green", _COLOURS),
        (COLOUR, "Blue", _COLOURS),
        (COLOUR, True, _COLOURS),
        (COLOUR, ["Red"], _COLOURS),
        (approval(), "yes", _APPROVE),
        (approval(), 1, _APPROVE),
        (approval(), {}, _APPROVE),
        (approval(), {"approved": "yes"}, _APPROVE),
        (approval(), {"approved": 1}, _APPROVE),
        (approval(), {"approved": True, "note": "x"}, _APPROVE),
        (approval(), {"approved": False, "arguments": {"order": "9"}}, _APPROVE),
        (approval(), {"approved": True, "arguments": [9]}, _APPROVE),
        (approval(), {"approved": True, "arguments": {"order": "9"}, "note": "x"}, _APPROVE),
        (approval(tool=""), {"approved": True, "arguments": {"order": "9"}}, _APPROVE),
        (approval(), {"approved": True, "arguments": {"n": 1}}, r"^refund takes an order$"),
        (FORM, "three", r"^Please fill in the form: its answer is an object\.$"),
        (FORM, {}, r"^The form isn't complete yet\. the form: .*\bn\b.*required"),
        (FORM, {"n": 0, "mail": "x"}, r"^The form isn't complete yet\. .*mail: .*email"),
        (FORM, {"n": "x"}, r"^The form isn't complete yet\. n: .*integer"),
        (EVENT, "ok", r"^An event's answer is an object\.$"),
        (EVENT, None, r"^An event's answer is an object\.$"),
        (TEXT, {1, 2}, r"^the answer is not JSON: a Python set: pass a list$"),
        (FORM, {"n": float("nan")}, r"^the answer\.n is not JSON: the number nan$"),
    ],
)
def test_what_does_not_fit_gets_a_friendly_correction(
    question: Question, answer: object, correction: str
) -> None:
    """It says what would fit; the question stays open."""
    with pytest.raises(WrongShape, match=correction):
        shape_answer(question, answer, checked)


def test_an_answer_is_a_copy() -> None:
    """What the caller does with its own value later doesn't reach the log."""
    given = {"ok": [1]}
    shaped = shape_answer(EVENT, given, checked)
    given["ok"].append(2)

    assert shaped == {"ok": [1]}


TWO_OPEN = (*RUNNING, asked(ask("q1", resume_to="ask")), asked(ask("q2", resume_to="ask")))


@pytest.mark.parametrize("answer", ["blue", {"approved": True}, {"n": 1}, True, None, {}])
def test_an_answer_that_names_no_question_is_for_the_one_that_is_open(answer: Json) -> None:
    """Whatever it looks like: its shape is checked later."""
    assert sort_answers(state_of(*CALL_IN["gated"]), answer) == {"q1": answer}


def test_an_object_of_question_ids_answers_several() -> None:
    """Each part goes to its question."""
    state = state_of(*TWO_OPEN)

    assert sort_answers(state, {"q1": "a", "q2": "b"}) == {"q1": "a", "q2": "b"}
    assert sort_answers(state, {"q2": "b"}) == {"q2": "b"}


def test_an_answer_by_id_reaches_a_settled_question_too() -> None:
    """So that whoever answers late is told who was first, and not that there is no question."""
    assert sort_answers(state_of(*TWO_OPEN, answered("a")), {"q1": "b"}) == {"q1": "b"}


def test_one_unknown_id_among_known_ones_is_refused() -> None:
    """A slip of the pen must not be dropped in silence."""
    with pytest.raises(UnknownQuestion, match="'q7'"):
        sort_answers(state_of(*TWO_OPEN), {"q1": "a", "q7": "b"})


def test_an_unaddressed_answer_to_several_questions_is_asked_which_one() -> None:
    """Their ids are named."""
    with pytest.raises(AmbiguousAnswer, match=r"q1, q2.*say which one"):
        sort_answers(state_of(*TWO_OPEN), "yes")


def test_an_answer_when_none_is_open_is_told_how_the_last_one_ended() -> None:
    """Already answered by X at T."""
    state = state_of(*CALL_IN["gated"], answered({"approved": True}, by="bob"))

    with pytest.raises(
        AlreadySettled, match=r"no question is open.*; q1 was answered by bob at 2026-10-03 04:00"
    ):
        sort_answers(state, "yes")


def test_the_last_to_end_is_the_one_that_is_told() -> None:
    """Not the last to be asked."""
    state = state_of(*TWO_OPEN, expired("q2"), 60, expired("q1"))

    with pytest.raises(AlreadySettled, match=r"; q1 was expired at 2026-10-03 04:01"):
        sort_answers(state, "yes")


def test_an_answer_to_a_thread_that_never_asked_is_refused() -> None:
    """There is nothing to tell but that."""
    with pytest.raises(AlreadySettled, match=r"^no question is open in this thread$"):
        sort_answers(state_of(*SPOKEN), "yes")
