"""Whatever is asked, Slack takes it, and nobody is called who was not meant."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from channels.outgoing import Outgoing, OutgoingKind, QuestionCard
from channels.slack.render.filled import Filled, Mistakes, read_opened, read_state
from channels.slack.render.home import home_view
from channels.slack.render.message import render
from channels.slack.render.modals import ask_modal, question_modal
from tests.unit.channels.slack import asked
from tests.unit.channels.slack.block_limits import called, message_problems, view_problems

SECRET = b"a secret"
OURS = ("<@U2>", "<#C3>", "<!date^")
"""What we write ourselves: the audience of this workspace, and moments."""
FORMS = ("deny-reason", "answer", "fill", "edit", "show", "pick")


def foreign(payload: object) -> set[str]:
    """Give the calls in a payload that are not ours."""
    return {call for call in called(payload) if not call.startswith(OURS)}


@given(asked.cards(), asked.texts, st.sampled_from(get_args(OutgoingKind)))
def test_every_message_is_within_slacks_limits_and_calls_nobody(
    card: QuestionCard, text: str, kind: OutgoingKind
) -> None:
    """Every kind of message, of every question and text: no limit is passed, nobody is pinged."""
    message = Outgoing(
        id="d1", thread="th_1", address="slack:T1:C1:1.2", kind=kind, text=text, question=card
    )

    for piece in render(message, team="T1", secret=SECRET):
        assert message_problems(piece.blocks, piece.text) == []
        assert message_problems(piece.blocks, piece.plain) == []
        assert foreign([piece.blocks, piece.text, piece.plain]) == set()


@given(asked.cards(), st.sampled_from(FORMS))
def test_every_form_is_within_slacks_limits_and_calls_nobody(card: QuestionCard, name: str) -> None:
    """Every form of every question that has a button at all."""
    if len(card.id) > 1_500 or (name == "pick" and not card.options):
        return
    view = question_modal(name, card, secret=SECRET, context={"place": "slack:T1:C1:1.2"})

    assert view is not None
    assert view_problems(view) == []
    assert foreign(view) == set()
    assert read_opened(SECRET, view).question == card.id


@given(asked.cards(), st.sampled_from(["deny-reason", "answer", "fill", "edit", "pick"]))
def test_form_that_comes_back_empty_is_read_without_a_fault(card: QuestionCard, name: str) -> None:
    """A view without any state gives an answer or something to mend, never an exception."""
    assert isinstance(read_state({"state": {}}, card, name), (Filled, Mistakes))


@settings(max_examples=25)  # of up to 40 cards each
@given(st.lists(asked.cards(), max_size=40))
def test_home_page_is_within_slacks_limits_and_calls_nobody(waiting: list[QuestionCard]) -> None:
    """However many questions wait."""
    view = home_view(waiting, team="T1", secret=SECRET)

    assert view_problems(view) == []
    assert foreign(view) == set()


@given(asked.texts)
def test_form_of_the_shortcut_is_within_slacks_limits(text: str) -> None:
    """Whatever the message says that somebody asks about."""
    view = ask_modal(text, secret=SECRET, context={})

    assert view_problems(view) == []
    assert foreign(view) == set()


@given(st.sampled_from(["answered", "expired", "withdrawn"]), asked.cards())
def test_settled_question_has_nothing_to_click(status: str, card: QuestionCard) -> None:
    """Not one button stays after the decision."""
    settled = Outgoing(
        id="d1",
        thread="th_1",
        address="slack:T1:C1:1.2",
        kind="question.settled",
        question=_with(card, status),
    )

    (piece,) = render(settled, team="T1", secret=SECRET)
    assert "actions" not in [block["type"] for block in piece.blocks]


def _with(card: QuestionCard, status: str) -> QuestionCard:

    return replace(card, status=status)  # type: ignore[arg-type]
