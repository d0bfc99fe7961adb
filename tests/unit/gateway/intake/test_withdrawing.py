"""Never mind: which words take a question back, and whose."""

from __future__ import annotations

import pytest

from agent_core.errors import AmbiguousAnswer
from agent_core.thread.events import Event, Millis, QuestionWithdrawn
from agent_core.thread.state import ThreadState
from channels.inbound import Message
from channels.people import Actor
from gateway.intake.withdrawing import never_minded, read_never_mind
from gateway.people.directory import Directory
from tests.unit.agent_core.thread.logs import START, ask, asked, launched, said, state_of
from tests.unit.gateway.council import ANN, ANN_BY_MAIL, COUNCIL, OTTO

NOW = Millis(START + 60_000)
PEOPLE = Directory(COUNCIL)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("never mind", 0),
        ("  Never   Mind!! ", 0),
        ("nvm", 0),
        ("never mind 2", 2),
        ("Never mind, #3.", 3),
        ("Hat sich erledigt!", 0),
        ("laissez tomber", 0),
        ("OLVÍDALO", 0),
        ("забудь", 0),
        ("算了。", 0),
        ("never mind the price", None),
        ("never mind, do it", None),
        ("no", None),
        ("I never mind", None),
        ("", None),
        ("42", None),
        ("never mind " + "x" * 60, None),
        ("never mind 12345", None),
    ],
)
def test_only_words_that_mean_nothing_else_are_taken(text: str, number: int | None) -> None:
    """Said alone; a number may follow."""
    assert read_never_mind(text) == number


def waiting(*questions: str) -> ThreadState:
    """A thread of ann's that asks these."""
    begun = (launched(requester=ANN.id), said(sender=ANN.id))
    return state_of(*begun, *(asked(ask(one, call=None)) for one in questions))


def says(
    state: ThreadState, text: str = "never mind", actor: Actor = ANN, **more: object
) -> list[Event]:
    """Say it in the thread."""
    message = Message(key="k", place="slack:T1:C1:1", actor=actor, text=text, **more)  # type: ignore[arg-type]  # of Message
    return never_minded(state, message, PEOPLE, NOW)


def withdrawn(events: list[Event]) -> list[str]:
    """Name the questions that were withdrawn."""
    return [one.question for one in events if isinstance(one, QuestionWithdrawn)]


def test_whoever_began_it_withdraws_by_any_identity() -> None:
    """With their own words as the reason."""
    (event,) = says(waiting("q1"), actor=ANN_BY_MAIL)

    assert isinstance(event, QuestionWithdrawn)
    assert (event.by, event.reason) == (ANN_BY_MAIL.id, 'they said "never mind"')


def test_words_of_ones_own_count_not_what_they_quote() -> None:
    """A mail brings along what it answers."""
    (event,) = says(waiting("q1"), "never mind\n\n> What of q1?", words="never mind")

    assert isinstance(event, QuestionWithdrawn)
    assert event.reason == 'they said "never mind"'


@pytest.mark.parametrize(
    ("actor", "more"),
    [
        (OTTO, {}),
        (Actor(id=ANN.id, is_authenticated=False), {}),
        (ANN, {"may_answer": False}),
        (ANN, {"question": "q9"}),
        (ANN, {"said_at": START}),
        (ANN, {"text": "hello"}),
    ],
    ids=["somebody else", "no proof", "a program", "about another", "said before", "other words"],
)
def test_other_words_and_other_people_withdraw_nothing(
    actor: Actor, more: dict[str, object]
) -> None:
    """They are kept for the agent as what they are."""
    assert says(waiting("q1"), actor=actor, **more) == []  # type: ignore[arg-type]  # of Message


def test_with_nothing_open_there_is_nothing_to_withdraw() -> None:
    """The words go to the agent."""
    assert says(waiting()) == []


def test_number_says_which_of_several() -> None:
    """In the order in which they were asked; a reply to one needs no number."""
    both = waiting("q1", "q2")

    assert withdrawn(says(both, "never mind 2")) == ["q2"]
    assert withdrawn(says(both, question="q1")) == ["q1"]
    assert withdrawn(says(waiting("q1"), "never mind 1")) == ["q1"]


@pytest.mark.parametrize("text", ["never mind", "never mind 3"])
def test_which_one_is_asked_where_it_is_not_clear(text: str) -> None:
    """With what there is."""
    with pytest.raises(AmbiguousAnswer, match=r"1\. What of q1\?\n2\. What of q2\?"):
        says(waiting("q1", "q2"), text)
