"""What a person types at the demo's question, and what it is taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core import Question
from agent_core.thread.questions import QuestionId
from gateway.demo.replies import (
    Answer,
    Approve,
    Deny,
    Edit,
    Quit,
    Reply,
    Show,
    Unclear,
    answer_of,
    parse_amount,
    parse_reply,
)

QUESTION = Question(
    id=QuestionId("q"),
    kind="approval",
    prompt="May I?",
    tool="refund",
    arguments={"order": "1", "amount": 5.0},
)


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("approve", Approve()),
        ("  A ", Approve()),
        ("Yes", Approve()),
        ("deny", Deny()),
        ("no  not yet ", Deny("not yet")),
        ("edit", Edit()),
        ("e 45", Edit(45.0)),
        ("edit 45,50 EUR", Edit(45.5)),
        ("edit -3", Edit(-3.0)),
        ("show", Show()),
        ("q", Quit()),
        ("deny \x1b[31mred\x07", Deny("[31mred")),
        ("deny \udcff!", Deny("!")),
    ],
)
def test_reply_is_a_word_or_its_first_letter(line: str, reply: Reply) -> None:
    """Case and spaces don't matter, and what a terminal would obey is left out."""
    assert reply == parse_reply(line)


@pytest.mark.parametrize("line", ["", "   ", "approve everything", "quit smoking", "show me", "45"])
def test_what_is_not_a_reply_gets_advice(line: str) -> None:
    """Words too many count as not understood: nothing is approved by half a sentence."""
    reply = parse_reply(line)

    assert isinstance(reply, Unclear)
    assert "approve · deny REASON · edit AMOUNT" in reply.advice


@pytest.mark.parametrize("text", ["nan", "inf", "1e5", "a lot", "4 5", "1.234", ""])
def test_amount_is_a_plain_number(text: str) -> None:
    """Python's stranger numbers are no money."""
    assert isinstance(parse_amount(text), Unclear)


def test_advice_quotes_little() -> None:
    """A page that was pasted by mistake is not shown back whole."""
    reply = parse_reply("x" * 5_000)

    assert isinstance(reply, Unclear)
    assert len(reply.advice) < 160


@given(st.text())
def test_any_line_is_read_without_an_error(line: str) -> None:
    """Whatever is typed, there is a reply to it."""
    assert isinstance(parse_reply(line), Approve | Deny | Edit | Show | Quit | Unclear)


def test_decisions_become_answers() -> None:
    """Each decision has the form that `agent.resume` takes; an edit keeps the other arguments."""
    edited = {"order": "1", "amount": 3.0}

    assert Answer({"approved": True}) == answer_of(Approve(), QUESTION)
    assert Answer({"approved": False}, "late") == answer_of(Deny("late"), QUESTION)
    assert Answer({"approved": True, "arguments": edited}) == answer_of(Edit(3.0), QUESTION)
