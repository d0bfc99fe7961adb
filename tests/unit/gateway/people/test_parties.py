"""Who has a part in a thread, as far as its events tell."""

from __future__ import annotations

import pytest

from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    QuestionAsked,
    QuestionEscalated,
    ThreadId,
    ThreadLaunched,
    ThreadPaused,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import Question, QuestionId
from gateway.people.directory import Directory
from gateway.people.parties import asked, parties
from gateway.settings.config import Person

PEOPLE = Directory([Person(name="otto", roles=("approver",))])
NOW = Millis(1)


def launched(requester: str, **more: object) -> ThreadLaunched:
    """Begin a thread."""
    return ThreadLaunched(
        at=NOW,
        thread=ThreadId("t1"),
        agent="desk",
        requester=requester,
        origin="web:t1",
        **more,  # type: ignore[arg-type]  # of ThreadLaunched
    )


def asking(*to: str) -> QuestionAsked:
    """Ask somebody."""
    question = Question(id=QuestionId("q1"), kind="text", prompt="?", to=to)
    return QuestionAsked(at=NOW, question=question)


def found(*events: Event) -> tuple[str, ...]:
    """Give who has a part by all of these."""
    return parties(events, fold(list(events)), PEOPLE)


@pytest.mark.parametrize(
    ("requester", "has"),
    [
        ("slack:T1:U2", ("slack:t1:u2",)),
        ("email:Ann@Example.com", ("email:ann@example.com",)),
        ("otto", ("otto",)),
        ("Otto", ("otto",)),
        ("ci", ()),
        ("webhook:ci", ()),
        ("callback:https://x", ()),
        ("", ()),
    ],
)
def test_whoever_began_it_has_a_part_unless_it_is_a_program(
    requester: str, has: tuple[str, ...]
) -> None:
    """A name without an address is somebody only if the operator has listed them."""
    assert found(launched(requester)) == has


def test_writers_and_those_they_bring_along_have_a_part() -> None:
    """Each once."""
    said = MessageReceived(
        at=NOW, text="hi", sender="email:ann@x.org", others=("email:bob@x.org", "email:ann@x.org")
    )

    assert found(launched("ci"), said) == ("email:ann@x.org", "email:bob@x.org")


def test_those_who_are_asked_have_a_part_also_by_a_role() -> None:
    """Whoever has the role when they look; also a role that nobody has yet."""
    assert found(launched("ci"), asking("Approver", "legal")) == ("approver", "legal")


def test_without_names_a_question_is_for_whoever_began_it() -> None:
    """Which for a program is nobody who could look."""
    assert found(launched("ci"), asking()) == ()
    assert found(launched("slack:T1:U2"), asking()) == ("slack:t1:u2",)
    assert found(launched("ci", audience=("otto",)), asking()) == ("otto",)


def test_whoever_it_goes_on_to_has_a_part() -> None:
    """And what brings nobody in costs nothing."""
    before: list[Event] = [launched("ci"), asking("otto")]
    escalated = QuestionEscalated(at=NOW, question=QuestionId("q1"), to=("boss",))
    paused = ThreadPaused(at=NOW, by="boss")

    assert parties([escalated], fold([*before, escalated]), PEOPLE) == ("boss",)
    assert parties([paused], fold([*before, paused]), PEOPLE) == ()


def test_whom_a_question_asks_is_written_a_line_each() -> None:
    """So a name with a line break, which nobody has, is left out."""
    assert asked(["Otto", "otto", "a\nb", "slack:T1:C1"]) == ("otto", "slack:t1:c1")
