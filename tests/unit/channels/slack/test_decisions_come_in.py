"""Clicks and forms become decisions; what can't be one is explained to whoever tried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_core.errors import ParleyError
from channels.inbound import Decision
from channels.intake import Received
from channels.outgoing import QuestionCard
from channels.people import Actor
from channels.recording import Recording
from channels.slack.channel import SlackChannel
from channels.slack.double import AppDidNotAnswer, SlackDouble, Workspace
from tests.unit.channels.slack.premises import approval, choice, show

ANN = Actor(id="slack:T1:U1", name="ann", email="ann@example.com", how="slack")
BOB = Actor(id="slack:T1:U2", name="bob", how="slack")


@pytest.mark.parametrize(("button", "approved"), [("approve", True), ("deny", False)])
async def test_a_click_decides_exactly_the_question_it_stands_below(
    channel: SlackChannel,
    team: Workspace,
    recording: Recording,
    slack: SlackDouble,
    button: str,
    *,
    approved: bool,
) -> None:
    """Who clicked, where and what for: all of it comes from what Slack and we have signed."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    clicked = await team.clicks("U2", card, f"parley:{button}")

    [decision] = recording.intake.taken
    at = clicked.payload["actions"][0]["action_ts"]
    assert decision == Decision(
        key=f"slack:T1:U2:{at}:q_1",
        place=f"slack:T1:C1:{card.ts}",
        actor=BOB,
        question="q_1",
        value={"approved": approved},
    )
    assert clicked.acked
    assert not team.ephemerals("C1", "U2")


async def test_a_choice_is_its_options_name(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """The button carries a number, so that a name of any length can be chosen."""
    recording.desk.cards["q_2"] = choice()
    card = await show(slack, choice())
    await team.clicks("U1", card, "parley:choose-1")

    [decision] = recording.intake.taken
    assert isinstance(decision, Decision)
    assert decision.value == "blue"


async def test_a_click_in_a_thread_names_the_threads_root(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """An audience may be a place: the card's own."""
    recording.desk.cards["q_1"] = approval()
    root = await team.says("U1", "C1", "<@UBOT> refund it")
    card = await show(slack, approval(), thread_ts=root.ts)
    await team.clicks("U1", card, "parley:approve")

    assert recording.intake.taken[-1].place == f"slack:T1:C1:{root.ts}"


async def test_a_refused_click_is_explained_to_the_clicker_alone(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Late, second and forbidden clicks get words; the card itself is the outbox's to change."""
    recording.desk.cards["q_1"] = replace(approval(), status="answered", answered_by="ann")
    recording.intake.script.append(Received(effect="refused", words="Already answered by ann."))
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:approve")

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert told.text == "Already answered by ann."
    assert not slack.calls("chat.update")


async def test_a_click_for_a_form_on_a_settled_question_is_refused_by_the_intake(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """No form is opened in vain: the intake says who was faster, and keeps the attempt."""
    recording.desk.cards["q_1"] = replace(approval(), status="answered", answered_by="ann")
    recording.intake.script.append(Received(effect="refused", words="Already answered by ann."))
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:edit")

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert told.text == "Already answered by ann."
    assert team.open_view("U2") is None


async def test_a_click_on_a_question_that_is_gone_is_explained(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Nobody is left wondering."""
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:approve")

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert "not here any more" in told.text
    assert not recording.intake.tried


async def test_a_click_on_a_card_that_has_changed_decides_nothing(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Who approved 49.90 has not approved 4,990."""
    card = await show(slack, approval())
    recording.desk.cards["q_1"] = approval(arguments={"order": "A-123", "amount": 4990})
    await team.clicks("U2", card, "parley:approve")

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert "has changed" in told.text
    assert not recording.intake.tried


async def test_a_replayed_click_has_the_same_key(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """The same click, sent again by whomever, is a copy."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    clicked = await team.clicks("U2", card, "parley:approve")
    await slack.resend(clicked)

    assert len(recording.intake.tried) == 2
    assert len(recording.intake.taken) == 1


async def test_a_person_from_elsewhere_clicks_as_one(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Whether they may is the gateway's to say; that they are strangers is ours."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval(), channel="C3")
    await team.clicks("U9", card, "parley:approve")

    [decision] = recording.intake.taken
    assert decision.actor == Actor(id="slack:T9:U9", name="eve", is_external=True, how="slack")
    assert decision.place == f"slack:T1:C3:{card.ts}"


async def test_a_click_that_could_not_be_taken_is_told_so(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Slack sends no click twice, so the person must."""
    slack.retries.timeout = 1.0
    recording.desk.cards["q_1"] = approval()
    recording.intake.script.append(ParleyError("the disk is full"))
    card = await show(slack, approval())
    clicked = await team.clicks("U2", card, "parley:approve")

    assert not clicked.acked
    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert "try again" in told.text


# Forms


async def test_a_denial_with_a_reason_comes_from_a_form(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """The click opens it; what is filled in decides, in the place of the card."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:deny-reason")
    assert not recording.intake.tried
    await team.submits("U2", {"words": {"words": "too much"}})

    [decision] = recording.intake.taken
    assert isinstance(decision, Decision)
    assert (decision.value, decision.comment) == ({"approved": False}, "too much")
    assert decision.place == f"slack:T1:C1:{card.ts}"
    assert decision.actor == BOB
    assert team.open_view("U2") is None


async def test_letters_in_a_reason_that_nothing_stores_do_no_harm(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """The store would refuse the decision, again and again; the reason is readable without them."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:deny-reason")
    await team.submits("U2", {"words": {"words": "too\0 much\ud800"}})

    [decision] = recording.intake.taken
    assert isinstance(decision, Decision)
    assert decision.comment == "too much"


async def test_a_form_that_doesnt_fit_stays_open_and_says_what_to_mend(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Refused for its shape: mended and sent again it is taken, not mistaken for a copy."""
    question = QuestionCard(id="q_3", thread="th_1", kind="text", prompt="Which order?")
    recording.desk.cards["q_3"] = question
    recording.intake.script.append(
        Received(effect="refused", words="Please name one order.", is_shape=True)
    )
    card = await show(slack, question)
    await team.clicks("U2", card, "parley:answer")
    answer = await team.submits("U2", {"words": {"words": "both"}})
    assert answer == {
        "response_action": "errors",
        "errors": {"words": "Please name one order."},
    }
    await team.submits("U2", {"words": {"words": "A-123"}})

    first, second = recording.intake.tried
    assert first.key != second.key
    assert recording.intake.taken == [second]
    assert team.open_view("U2") is None


async def test_a_refused_form_shows_why_in_its_place(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Late or forbidden: there is nothing to mend."""
    recording.desk.cards["q_1"] = approval()
    recording.intake.script.append(Received(effect="refused", words="This is for otto."))
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:deny-reason")
    await team.submits("U2", {"words": {"words": "no"}})

    view = team.open_view("U2")
    assert view is not None
    assert view.blocks[0]["text"]["text"] == "This is for otto."


async def test_a_form_of_a_question_that_changed_meanwhile_decides_nothing(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """A form is bound to what was seen when it was opened."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:edit")
    recording.desk.cards["q_1"] = approval(arguments={"order": "A-123", "amount": 4990})
    await team.submits("U2")

    view = team.open_view("U2")
    assert view is not None
    assert "has changed" in view.blocks[0]["text"]["text"]
    assert not recording.intake.tried


async def test_a_form_that_could_not_be_taken_is_not_acknowledged(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Slack then lets the person send it again: nothing that they typed is lost."""
    slack.retries.timeout = 1.0
    recording.desk.cards["q_1"] = approval()
    recording.intake.script.append(ParleyError("the disk is full"))
    card = await show(slack, approval())
    await team.clicks("U2", card, "parley:deny-reason")
    with pytest.raises(AppDidNotAnswer):
        await team.submits("U2", {"words": {"words": "no"}})
    await team.submits("U2", {"words": {"words": "no"}})

    assert len(recording.intake.taken) == 1


async def test_a_form_that_slack_does_not_open_is_explained(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """A trigger lives three seconds; after that only a new click helps."""
    recording.desk.cards["q_1"] = approval()
    card = await show(slack, approval())
    slack.fail("views.open", error="expired_trigger_id")
    await team.clicks("U2", card, "parley:deny-reason")

    [told] = await slack.until(lambda: team.ephemerals("C1", "U2"))
    assert "click again" in told.text


async def test_everything_can_be_shown_after_the_decision_too(
    channel: SlackChannel, team: Workspace, recording: Recording, slack: SlackDouble
) -> None:
    """Long arguments are folded; looking at them decides nothing."""
    long = approval(arguments={"note": "x" * 5_000})
    recording.desk.cards["q_1"] = replace(long, status="answered")
    card = await show(slack, long)
    await team.clicks("U2", card, "parley:show")

    assert team.open_view("U2") is not None
    assert not recording.intake.tried
