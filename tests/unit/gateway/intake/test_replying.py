"""Replying: which of several questions words are about."""

from __future__ import annotations

import pytest

from agent_core.errors import AmbiguousAnswer
from agent_core.thread.questions import Option, Question, QuestionId
from channels.inbound import Message
from channels.people import Actor
from gateway.intake.replying import is_plain_answer, read_reply

REFUND = Question(
    id=QuestionId("q_a"), kind="approval", prompt="Pay 10 to Ann?", tool="issue_refund"
)
DELETE = Question(id=QuestionId("q_b"), kind="approval", prompt="Delete the account?", tool="drop")
COLOUR = Question(
    id=QuestionId("q_c"),
    kind="choice",
    prompt="Colour of the car?",
    options=(Option("red"), Option("blue")),
)
SIZE = Question(id=QuestionId("q_d"), kind="text", prompt="Which size of shoe?")
NAME = Question(id=QuestionId("q_e"), kind="text", prompt="Which name of the pet?")
TWO = {2: REFUND, 5: DELETE}


def said(text: str, **more: str) -> Message:
    """Somebody's words."""
    return Message(key="1", place="slack:T1:C1:1.5", actor=Actor(id="x"), text=text, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "asked", "question", "value"),
    [
        # One question: words are its answer, with or without its number
        ("yes", {3: REFUND}, "q_a", {"approved": True}),
        ("3 yes", {3: REFUND}, "q_a", {"approved": True}),
        ("3: large", {3: SIZE}, "q_d", "3: large"),
        ("2", {3: COLOUR}, "q_c", "blue"),
        # Several: by number
        ("2: yes", TWO, "q_a", {"approved": True}),
        ("#5 no", TWO, "q_b", {"approved": False}),
        ("5) yes", TWO, "q_b", {"approved": True}),
        ("4: 42", {4: SIZE, 6: NAME}, "q_d", "42"),
        ("#6 Rex", {4: SIZE, 6: NAME}, "q_e", "Rex"),
        ("7 blue", {2: REFUND, 7: COLOUR}, "q_c", "blue"),
        # Several: by a word that no other has
        ("yes to the refund", TWO, "q_a", {"approved": True}),
        ("no, account", TWO, "q_b", {"approved": False}),
        ("Delete: yes", TWO, "q_b", {"approved": True}),
        ("the pet is Rex", {4: SIZE, 6: NAME}, "q_e", "the pet is Rex"),
        # Several, of which one takes such words
        ("red", {2: REFUND, 7: COLOUR}, "q_c", "red"),
        ("yes", {2: REFUND, 7: COLOUR}, "q_a", {"approved": True}),
    ],
)
def test_words_find_their_question(
    text: str, asked: dict[int, Question], question: str, value: object
) -> None:
    """By being the only one, by a number, or by what it is about."""
    reply = read_reply(said(text), asked)

    assert reply is not None
    assert (reply.question.id, reply.reading.value) == (question, value)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("yes", TWO),
        ("large", {4: SIZE, 6: NAME}),
        ("3 apples", {4: SIZE, 6: NAME}),
        ("4 apples", {4: SIZE, 6: NAME}),
        ("shoe and pet", {4: SIZE, 6: NAME}),
    ],
)
def test_words_that_may_mean_several_are_asked_which(text: str, asked: dict[int, Question]) -> None:
    """With the numbers, and how to use them."""
    with pytest.raises(AmbiguousAnswer) as caught:
        read_reply(said(text), asked)

    told = str(caught.value)
    assert all(f"{number}. {one.prompt}" in told for number, one in asked.items())
    assert f'as in "{next(iter(asked))}: yes"' in told


def test_number_of_a_question_that_is_settled_answers_no_other() -> None:
    """Somebody else was faster, and the list that they were shown is out of date."""
    for asked in (TWO, {5: DELETE}):
        with pytest.raises(AmbiguousAnswer, match=r"Question 3 is not open\. These are:"):
            read_reply(said("3 yes"), asked)


@pytest.mark.parametrize(
    "text", ["hm, perhaps", "2 be or not 2 be", "refund?", "yes, and delete no"]
)
def test_other_words_answer_nothing(text: str) -> None:
    """Nothing is guessed."""
    assert read_reply(said(text), TWO) is None


def test_reply_that_knows_its_question_needs_no_more() -> None:
    """As mail does; what it quotes counts for nothing."""
    reply = read_reply(said("yes\n> Delete the account?", words="yes", question="q_a"), TWO)

    assert reply is not None
    assert reply.question == REFUND
    assert read_reply(said("yes", question="q_z"), TWO) is None


def test_attempt_is_told_from_chatter() -> None:
    """A plain yes to an approval is meant as one; words in a conversation need not be."""
    assert is_plain_answer(said("yes"), REFUND)
    assert is_plain_answer(said("whatever", question="q_d"), SIZE)
    assert not is_plain_answer(said("whatever"), SIZE)
    assert not is_plain_answer(said("I would say so"), REFUND)
    assert not is_plain_answer(said("yes", question="q_b"), REFUND)
