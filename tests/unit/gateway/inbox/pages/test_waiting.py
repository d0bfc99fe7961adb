"""A question as the inbox shows it."""

from __future__ import annotations

from dataclasses import replace

from agent_core.thread.events import Millis
from channels.outgoing import Choice, QuestionCard, Vote
from channels.posted_answers import Mistakes, card_digest
from gateway.inbox.pages.waiting import Told, item

NOW = Millis(1_789_000_000_000)
CARD = QuestionCard(
    id="q",
    thread="t",
    kind="approval",
    prompt="May I?",
    tool="refund",
    arguments={"order": "1", "amount": 5},
    audience=["otto"],
    asked_at=NOW - 7_200_000,
)
TOLD = Told(agent="desk", requester="ann")


def test_what_is_decided_is_shown_exactly() -> None:
    """The tool, every argument, who asks for whom, and since when; named by its digest."""
    shown = item(CARD, TOLD, NOW)

    assert (shown.tool, shown.agent, shown.requester, shown.age) == (
        "refund",
        "desk",
        "ann",
        "2 hours",
    )
    assert shown.arguments is not None
    assert shown.arguments.head == 'order: "1"\namount: 5'
    assert shown.shown == card_digest(CARD) != card_digest(replace(CARD, tool="wire"))


def test_no_argument_hides_behind_a_long_one() -> None:
    """Somebody decides by it: it is folded, and nothing of it left out."""
    long = {"body": "lorem ipsum " * 20_000, "to": "eve@example.com"}
    shown = item(replace(CARD, arguments=long), TOLD, NOW).arguments

    assert shown is not None
    assert "to: eve@example.com" in shown.rest
    assert shown.cut == 0


def test_expiry_is_told_with_what_it_means() -> None:
    """An hour before, it is urgent; and silence may count as a no."""
    far = item(replace(CARD, expires_at=NOW + 7_200_000), TOLD, NOW).expiry
    near = item(replace(CARD, expires_at=NOW + 60_000, expiry_denies=True), TOLD, NOW).expiry
    past = item(replace(CARD, expires_at=NOW - 1), TOLD, NOW).expiry

    assert far is not None
    assert near is not None
    assert past is not None
    assert (far.left, far.is_soon, far.means) == ("in 2 hours", False, "")
    assert (near.left, near.is_soon, near.means) == ("in 1 minute", True, "then it counts as a no")
    assert past.left == "now"
    assert item(CARD, TOLD, NOW).expiry is None


def test_votes_are_counted_for_the_very_same_thing() -> None:
    """Two who approve different amounts are not two of two; a person's last word counts."""
    votes = [
        Vote(by="ann", approved=True),
        Vote(by="olga", approved=True, arguments={"order": "1", "amount": 4}, comment="less"),
        Vote(by="ann", approved=True, arguments={"order": "1", "amount": 4}),
        Vote(by="eve", approved=False),
    ]
    shown = item(replace(CARD, quorum=3, not_requester=True, votes=votes), TOLD, NOW)

    assert (shown.yes, shown.quorum) == (2, 3)
    assert shown.rules == (
        "3 people must approve the very same. Whoever asked for it can't approve it."
    )
    assert [(one.who, one.said, one.is_yes) for one in shown.votes][1:] == [
        ("olga", "approved with other arguments", True),
        ("ann", "approved with other arguments", True),
        ("eve", "denied", False),
    ]
    assert shown.proposal is not None
    assert [one.name for one in shown.proposal.rows if one.is_changed] == ["amount"]


def test_what_became_of_it_is_said_in_a_sentence() -> None:
    """Who, what and when; an expiry is not a denial unless it is."""
    done = replace(CARD, status="answered", answered_by="olga", settled_at=NOW)

    def said(**other: object) -> str:
        shown = item(replace(done, **other), TOLD, NOW)  # type: ignore[arg-type]
        return shown.verdict.replace("10 Sep 2026, 00:26:40", "T")

    assert item(CARD, TOLD, NOW).verdict == ""
    assert said(answer={"approved": True}) == "Approved by olga at T UTC."
    assert said(answer={"approved": True, "arguments": {}}) == (
        "Approved with edits by olga at T UTC."
    )
    assert said(answer={"approved": False}) == "Denied by olga at T UTC."
    assert said(kind="choice", answer="blue") == "“blue” was chosen by olga at T UTC."
    assert said(kind="text", answer="Ada") == "Answered by olga at T UTC."
    assert said(status="expired", answered_by="") == (
        "This question has expired at T UTC. Nobody decided: that is not a denial."
    )
    assert "counts as a no" in said(status="expired", answered_by="", expiry_denies=True)
    assert said(status="withdrawn").startswith("This question was withdrawn by olga")
    assert said(status="withdrawn", taken_back=True).startswith("The approval was taken back")


def test_a_form_is_shown_with_what_was_typed_and_what_is_wrong() -> None:
    """Nobody types twice, and the words stand beside the field that they are about."""
    schema = {"properties": {"n": {"type": "integer"}, "c": {"enum": ["a", "b"]}}}
    form = replace(CARD, kind="form", tool="", arguments=None, schema=schema)
    typed = {"field-0": ["x"], "field-1": ["1"]}
    wrong = Mistakes("Please look.", {"field-0": "Please give a whole number, such as 20."})
    number, choice = item(form, TOLD, NOW, posted=typed, mistakes=wrong).inputs

    assert (number.value, number.mode, number.problem) == (
        "x",
        "decimal",
        wrong.by_input["field-0"],
    )
    assert [(one.label, one.is_chosen) for one in choice.options] == [("a", False), ("b", True)]


def test_options_and_names_are_made_harmless() -> None:
    """What a model writes as an option can't turn the line round."""
    card = replace(CARD, kind="choice", options=[Choice(name="\u202eoui", description="a\nb")])

    assert item(card, TOLD, NOW).options == (("\\u202eoui", "a b"),)
