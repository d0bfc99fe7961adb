"""Signed values: only this gateway makes them, and each is for one thing on one card."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.outgoing import Choice, QuestionCard
from channels.slack.tokens import (
    Action,
    ForgedValue,
    card_digest,
    read_action,
    read_metadata,
    sign_action,
    sign_metadata,
)

SECRET = b"a secret"
CARD = QuestionCard(
    id="q_1", thread="th_1", kind="approval", prompt="Refund?", tool="refund", arguments={"n": 1}
)


@given(st.text(min_size=1, max_size=100), st.sampled_from(["approve", "deny-reason", "choose-12"]))
def test_signed_action_is_read_back(question: str, name: str) -> None:
    """Whatever the question's id looks like, dots included."""
    card = replace(CARD, id=question)

    read = read_action(SECRET, sign_action(SECRET, card, name))

    assert read == Action(question=question, name=name, digest=card_digest(card))


@given(st.data())
def test_changed_value_is_refused(data: st.DataObject) -> None:
    """One other letter anywhere, and it is not ours."""
    value = sign_action(SECRET, CARD, "approve")
    at = data.draw(st.integers(0, len(value) - 1))
    letter = data.draw(st.characters().filter(lambda letter: letter != value[at]))

    with pytest.raises(ForgedValue):
        read_action(SECRET, value[:at] + letter + value[at + 1 :])


@given(st.text())
def test_made_up_value_is_refused(value: str) -> None:
    """Text from anywhere is refused, whatever it is."""
    with pytest.raises(ForgedValue):
        read_action(SECRET, value)
    with pytest.raises(ForgedValue):
        read_metadata(SECRET, value)


def test_value_of_another_gateway_is_refused() -> None:
    """Another secret, another house."""
    with pytest.raises(ForgedValue):
        read_action(b"another secret", sign_action(SECRET, CARD, "approve"))


def test_value_of_a_form_is_no_button() -> None:
    """What is signed for one purpose is no good for the other."""
    with pytest.raises(ForgedValue):
        read_action(SECRET, sign_metadata(SECRET, {"question": "q_1"}))
    with pytest.raises(ForgedValue):
        read_metadata(SECRET, sign_action(SECRET, CARD, "approve"))


def test_metadata_is_read_back() -> None:
    """What a form carries comes back as it was."""
    value = {"question": "q_1", "context": {"place": "slack:T1:C1:1.2", "n": [1, "ü"]}}

    assert read_metadata(SECRET, sign_metadata(SECRET, value)) == value


@pytest.mark.parametrize(
    "other",
    [
        replace(CARD, id="q_2"),
        replace(CARD, prompt="Refund all?"),
        replace(CARD, context="more"),
        replace(CARD, tool="pay"),
        replace(CARD, arguments={"n": 1.0}),
        replace(CARD, arguments={"n": True}),
        replace(CARD, options=[Choice(name="yes")]),
        replace(CARD, schema={"type": "object"}),
    ],
)
def test_digest_is_of_what_is_shown(other: QuestionCard) -> None:
    """A click on a card that showed something else can be told from one on this card."""
    assert card_digest(other) != card_digest(CARD)


def test_digest_stays_when_the_question_is_settled() -> None:
    """Who answered, and when, is not what was decided about."""
    settled = replace(CARD, status="answered", answer={"approved": True}, settled_at=5)

    assert card_digest(settled) == card_digest(CARD)
