"""A question as people see it: what is asked of whom, and how it ended."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from agent_core.thread.changes import changes
from channels.outgoing import Choice, Outgoing, OutgoingKind, QuestionCard, Vote
from channels.slack.parsing.decisions import decided
from channels.slack.render.home import home_view
from channels.slack.render.message import Piece, render
from channels.slack.tokens import read_action

SECRET = b"a secret"
APPROVAL = QuestionCard(
    id="q_1",
    thread="th_1",
    kind="approval",
    prompt="May I pay **Ada** back?",
    context="She wrote twice.",
    tool="refund",
    arguments={"order": "A-17", "amount": 500, "note": "first line\nsecond line"},
    audience=["slack:T1:U2", "slack:T9:U3", "approver", "email:eve@example.com"],
    urgency="high",
    expires_at=1_700_000_000_000,
)


def shown(card: QuestionCard, kind: OutgoingKind = "question.asked") -> list[Piece]:
    """Render a question as it goes to workspace T1."""
    message = Outgoing(id="d", thread="th_1", address="slack:T1:C1:1.2", kind=kind, question=card)
    return render(message, team="T1", secret=SECRET)


def told(text: str, kind: OutgoingKind) -> Piece:
    """Render words about a thread."""
    message = Outgoing(id="d", thread="th_1", address="slack:T1:C1:1.2", kind=kind, text=text)
    (piece,) = render(message, team="T1", secret=SECRET)
    return piece


def texts(piece: Piece) -> str:
    """Give all that can be read in a message, a block a paragraph."""
    found = []
    for block in piece.blocks:
        for part in [block.get("text"), *block.get("elements", [])]:
            inner = part.get("text") if isinstance(part, dict) else part
            found.append(inner if isinstance(inner, str) else (inner or {}).get("text", ""))
    return "\n\n".join(found)


def clickable(piece: Piece) -> list[dict[str, Any]]:
    """Give the buttons and menus, in order."""
    rows = [block["elements"] for block in piece.blocks if block["type"] == "actions"]
    return [element for row in rows for element in row]


def test_approval_shows_what_would_run_and_who_may_say_so() -> None:
    """Prompt, context, tool, arguments, audience, urgency and expiry are all there."""
    (piece,) = shown(APPROVAL)

    read = texts(piece)
    assert "urgent · for <@U2>, somebody in another workspace, approver, eve@example.com" in read
    assert "May I pay **Ada** back?\n\nShe wrote twice." in read
    assert (
        "`refund` with\n```\norder: A-17\namount: 500\nnote:\n  first line\n  second line\n```"
    ) in read
    assert "Until <!date^1700000000^{date_short_pretty} at {time}|2023-11-14 22:13 UTC>" in read
    assert piece.text == "May I pay **Ada** back?"


def test_approval_has_four_buttons_that_are_signed() -> None:
    """Each says what it does, and carries it, bound to this question."""
    (piece,) = shown(APPROVAL)

    buttons = clickable(piece)
    assert [button["text"]["text"] for button in buttons] == [
        "Approve",
        "Deny",
        "Deny with a reason…",
        "Approve with edits…",
    ]
    actions = [read_action(SECRET, button["value"]) for button in buttons]
    assert [action.name for action in actions] == ["approve", "deny", "deny-reason", "edit"]
    assert {action.question for action in actions} == {"q_1"}


def test_long_arguments_are_folded_with_a_button_to_show_them() -> None:
    """The first 1,500 characters stand on the card; the rest is a click away."""
    (piece,) = shown(replace(APPROVAL, arguments={"text": "x" * 5_000}))

    assert 1_400 < texts(piece).count("x") <= 1_500
    assert clickable(piece)[-1]["text"]["text"] == "Show all"


def test_arguments_that_grow_by_escaping_are_folded_too() -> None:
    """What had to be cut for a limit can be seen in full as well."""
    (piece,) = shown(replace(APPROVAL, arguments={"text": "<" * 1_000}))

    assert clickable(piece)[-1]["text"]["text"] == "Show all"


def test_argument_can_neither_hide_nor_pass_for_another() -> None:
    """Characters that can't be seen are written out, and lines stay right of the names."""
    (piece,) = shown(replace(APPROVAL, arguments={"to": "\u202eevil", "note": "a\namount: 1"}))

    assert "to: \\u202eevil\nnote:\n  a\n  amount: 1\n" in texts(piece)


def test_text_that_looks_like_a_number_is_told_from_one() -> None:
    """Somebody approves what they read: "1" is not 1."""
    (piece,) = shown(replace(APPROVAL, arguments={"a": "1", "b": 1, "c": "true", "d": " "}))

    assert 'a: "1"\nb: 1\nc: "true"\nd: " "\n' in texts(piece)


def test_choice_has_a_button_for_each_option_five_in_a_row() -> None:
    """Descriptions stand above; the answer is found by the option's number."""
    options = [Choice(name=f"way {at}", description="slow" if at == 0 else "") for at in range(7)]
    (piece,) = shown(replace(APPROVAL, kind="choice", tool="", options=options))

    rows = [len(block["elements"]) for block in piece.blocks if block["type"] == "actions"]
    assert rows == [5, 2]
    assert "• *way 0*: slow" in texts(piece)
    assert read_action(SECRET, clickable(piece)[6]["value"]).name == "choose-6"


def test_choice_of_many_is_a_menu() -> None:
    """More than 25 options don't fit on buttons."""
    options = [Choice(name=f"way {at}") for at in range(60)]
    (piece,) = shown(replace(APPROVAL, kind="choice", tool="", options=options))

    (menu,) = clickable(piece)
    assert menu["type"] == "static_select"
    assert read_action(SECRET, menu["options"][59]["value"]).name == "choose-59"


def test_choice_of_very_many_opens_a_form() -> None:
    """A menu holds 100."""
    options = [Choice(name=f"way {at}") for at in range(101)]
    (piece,) = shown(replace(APPROVAL, kind="choice", tool="", options=options))

    (button,) = clickable(piece)
    assert read_action(SECRET, button["value"]).name == "pick"


def test_question_in_words_can_be_answered_in_the_thread() -> None:
    """No form is needed, but there is one."""
    (piece,) = shown(replace(APPROVAL, kind="text", tool=""))

    assert "Reply in this thread, or:" in texts(piece)
    assert [button["text"]["text"] for button in clickable(piece)] == ["Answer…"]


def test_event_has_nothing_to_click() -> None:
    """People see what is waited for."""
    (piece,) = shown(replace(APPROVAL, kind="event", tool="", prompt="The payment of A-17"))

    assert clickable(piece) == []
    assert "The payment of A-17" in texts(piece)


def test_long_prompt_stands_in_full_before_its_card() -> None:
    """What somebody decides about is not cut short."""
    *before, card = shown(replace(APPROVAL, prompt="word " * 4_000))

    assert sum(texts(piece).count("word") for piece in before) == 4_000
    assert clickable(card)


def test_reminder_and_escalation_say_why_they_come_and_have_the_buttons() -> None:
    """The same card again, with the occasion on top."""
    (reminder,), (escalation,) = (
        shown(APPROVAL, "question.reminded"),
        shown(APPROVAL, "question.escalated"),
    )

    assert texts(reminder).startswith("*Reminder: this still waits* · ")
    assert texts(escalation).startswith("*Nobody has answered yet* · ")
    assert len(clickable(reminder)) == len(clickable(escalation)) == 4


def settled(**changes: Any) -> str:  # noqa: ANN401 - as `replace` takes them
    """Read a settled card."""
    (piece,) = shown(replace(APPROVAL, settled_at=1_700_000_000_000, **changes), "question.settled")
    assert clickable(piece) == []
    return texts(piece)


def test_approved_card_says_who_and_when() -> None:
    """And what was approved still stands there."""
    read = settled(status="answered", answer={"approved": True}, answered_by="slack:T1:U2")

    assert ":white_check_mark: *Approved* by <@U2> · <!date^1700000000^" in read
    assert "amount: 500" in read


def test_approved_with_edits_shows_the_difference() -> None:
    """What runs is not what was proposed: both are there."""
    edited = {"order": "A-17", "amount": 20, "extra": True}
    read = settled(
        status="answered", answer={"approved": True, "arguments": edited}, answered_by="otto"
    )

    assert ":white_check_mark: *Approved with edits* by otto" in read
    assert "  order: A-17\n- amount: 500\n+ amount: 20\n- note:\n-   first line" in read
    assert "+ extra: true" in read


def test_denied_card_shows_the_reason() -> None:
    """The words of who denied it, quoted."""
    read = settled(status="answered", answer={"approved": False}, comment="too\n<!here> much")

    assert ":no_entry: *Denied*" in read
    assert ">too\n>&lt;!here&gt; much" in read


def test_expired_is_not_denied() -> None:
    """And withdrawn is neither."""
    assert "*Expired*" in settled(status="expired")
    assert "this is not a denial" in settled(status="expired")
    assert "*Withdrawn*" in settled(status="withdrawn")


def test_chosen_answered_and_filled_in_are_shown() -> None:
    """Each kind of answer in its own form."""
    chosen = settled(kind="choice", status="answered", answer="slow*", answered_by="otto")
    words = settled(kind="text", status="answered", answer="Yes.\nDo.", answered_by="otto")
    form = settled(kind="form", status="answered", answer={"size": "XL", "n": 2})

    assert "*slow\u2217* chosen by otto" in chosen
    assert ">Yes.\n>Do." in words
    assert "size: XL\nn: 2" in form


def test_question_that_was_settled_meanwhile_is_sent_without_buttons() -> None:
    """Late news show how it ended."""
    (piece,) = shown(replace(APPROVAL, status="answered", answer={"approved": True}))

    assert clickable(piece) == []


def test_failure_has_no_traceback_and_says_what_to_do() -> None:
    """People can't use a stack; they can write again."""
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no money'
    piece = told(trace, "thread.failed")

    read = texts(piece)
    assert "x.py" not in read
    assert "ValueError: no money" in read
    assert "Write here to let it try again" in read
    assert "x.py" not in piece.text


def test_result_and_cancellation_are_told() -> None:
    """Words as the agent wrote them; an empty result is still an answer."""
    assert texts(told("All *done*.", "thread.finished")) == "All *done*."
    assert texts(told("", "thread.finished")) == "Done."
    assert "*Cancelled.*\n>by otto" in texts(told("by\notto", "thread.cancelled"))


def test_notice_is_told_to_the_operator() -> None:
    """As words of ours: nothing in it is markup."""
    assert "reached nobody &lt;!here&gt;" in texts(told("reached nobody <!here>", "notice"))


def test_home_shows_what_waits_with_its_buttons() -> None:
    """The same buttons as on the card."""
    view = home_view([APPROVAL], team="T1", secret=SECRET)

    assert "May I pay *Ada* back?" in json.dumps(view)
    assert '"parley:approve"' in json.dumps(view)


def test_home_counts_what_does_not_fit() -> None:
    """A page has 100 blocks."""
    view = home_view([APPROVAL] * 100, team="T1", secret=SECRET)

    count = json.dumps(view).count('"parley:approve"')
    assert view["blocks"][-1]["text"]["text"] == f"… and {100 - count} more."


def test_empty_home_is_friendly() -> None:
    """It tells what would stand here."""
    assert "Nothing waits for you" in json.dumps(home_view([], team="T1", secret=SECRET))


# --- several people -------------------------------------------------------------------------------

_EDITED = {"order": "A-17", "amount": 20, "note": "first line\nsecond line"}
_COUNCIL = replace(
    APPROVAL,
    quorum=2,
    not_requester=True,
    votes=[
        Vote(by="slack:T1:U2", approved=True),
        Vote(
            by="email:eve@example.com",
            approved=True,
            arguments=_EDITED,
            changes=changes(APPROVAL.arguments or {}, _EDITED),
            comment="half of it\nwill do",
        ),
    ],
)


def test_open_card_shows_who_has_decided_and_what_it_takes() -> None:
    """With what somebody would change, as a difference, and a button that agrees to it."""
    (piece,) = shown(_COUNCIL, "question.voted")

    read = texts(piece)
    assert "2 people must approve the same. Whoever asked for it can't approve it." in read
    assert "• <@U2> :white_check_mark: approved\n" in read
    assert "• eve@example.com :white_check_mark: approved with edits: half of it will do" in read
    assert "- amount: 500\n+ amount: 20" in read
    names = [read_action(SECRET, one["value"]).name for one in clickable(piece)]
    assert names == ["approve", "deny", "deny-reason", "edit", "agree-1"]


def test_button_that_agrees_approves_the_very_same_change() -> None:
    """By the vote's number; a number that there is not means nothing."""
    assert decided("agree-1", _COUNCIL) == {"approved": True, "arguments": _EDITED}
    assert decided("agree-0", _COUNCIL) is None
    assert decided("agree-9", _COUNCIL) is None
    assert decided("agree-x", _COUNCIL) is None


def test_settled_card_names_all_who_decided() -> None:
    """And has nothing left to click."""
    settled = replace(
        _COUNCIL,
        status="answered",
        answer={"approved": True, "arguments": _EDITED},
        answered_by="slack:T1:U5",
        votes=[*_COUNCIL.votes, Vote(by="slack:T1:U5", approved=False)],
    )
    (piece,) = shown(settled, "question.settled")

    read = texts(piece)
    assert "*Approved with edits* by <@U5>" in read
    assert "• eve@example.com :white_check_mark: approved with edits" in read
    assert "• <@U5> :no_entry: denied" in read
    assert read.count("+ amount: 20") == 1
    assert clickable(piece) == []


def test_card_says_that_an_approval_was_taken_back() -> None:
    """By whom; it is asked anew in another card."""
    back = replace(APPROVAL, status="withdrawn", taken_back=True, answered_by="slack:T1:U2")
    (piece,) = shown(back, "question.settled")

    assert "*Approval taken back* by <@U2>. It is asked anew." in texts(piece)


def test_expired_card_says_what_that_means() -> None:
    """It is no denial, unless the author said that it should count as one."""
    expired = replace(APPROVAL, status="expired")
    (piece,) = shown(expired, "question.settled")
    (denied,) = shown(replace(expired, expiry_denies=True), "question.settled")

    assert "this is not a denial" in texts(piece)
    assert "that counts as a no" in texts(denied)
