"""Words as answers: a plain yes is a yes, and a sentence that begins with one is not."""

from __future__ import annotations

import pytest

from agent_core.thread.questions import YES_NO, Kind, Option, Question, QuestionId
from gateway.intake.words import Reading, read_words


def asked(kind: Kind, *options: str) -> Question:
    """Ask something."""
    return Question(
        id=QuestionId("q_1"), kind=kind, prompt="?", options=tuple(map(Option, options))
    )


@pytest.mark.parametrize(
    "text", ["yes", "Yes.", " OK! ", "approve", "👍", ":+1:", "Ja", "go  ahead"]
)
def test_plain_yes_approves(text: str) -> None:
    """In the forms that people type."""
    assert read_words(asked("approval"), text) == Reading({"approved": True})


@pytest.mark.parametrize("text", ["no", "No!", "deny", "don't", "don’t", "nein", ":-1:"])
def test_plain_no_denies(text: str) -> None:
    """In the forms that people type."""
    assert read_words(asked("approval"), text) == Reading({"approved": False})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no, too much", "too much"),
        ("Deny: ask Ann first.", "ask Ann first."),
        ("no - wait for legal", "wait for legal"),
        ("no because it is Friday", "it is Friday"),
        ("No.\nIt was paid twice,\nsee above.", "It was paid twice,\nsee above."),
    ],
)
def test_denial_keeps_its_reason(text: str, why: str) -> None:
    """It goes back to the model."""
    assert read_words(asked("approval"), text) == Reading({"approved": False}, why)


@pytest.mark.parametrize(
    "text",
    ["yes, but only half of it", "ok wait", "yes?", "no idea", "not yet", "", "sure thing", "1"],
)
def test_anything_else_decides_nothing(text: str) -> None:
    """Money is at stake: what is not plain stays a message."""
    assert read_words(asked("approval"), text) is None


@pytest.mark.parametrize("text", ["red", "RED", " Red. ", "1", "1)", "1."])
def test_choice_takes_a_name_or_a_number(text: str) -> None:
    """As the list shows them."""
    assert read_words(asked("choice", "red", "blue"), text) == Reading("red")


@pytest.mark.parametrize("text", ["3", "0", "re", "red or blue", ""])
def test_choice_takes_nothing_else(text: str) -> None:
    """A guess would be ours, not theirs."""
    assert read_words(asked("choice", "red", "blue"), text) is None


def test_yes_or_no_takes_the_other_forms_of_yes() -> None:
    """As an approval does."""
    question = Question(id=QuestionId("q_1"), kind="choice", prompt="?", options=YES_NO)

    assert read_words(question, "👍") == Reading("yes")
    assert read_words(question, "nein") == Reading("no")


def test_question_in_words_takes_any_words_but_none() -> None:
    """Yes is as good an answer as any."""
    assert read_words(asked("text"), "yes, but…") == Reading("yes, but…")
    assert read_words(asked("text"), " \n") is None


@pytest.mark.parametrize("kind", ["form", "event"])
def test_forms_and_events_are_not_answered_in_words(kind: Kind) -> None:
    """They have fields."""
    assert read_words(asked(kind), "yes") is None
