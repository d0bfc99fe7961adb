"""Wording: what a mail says, in plain text and in HTML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent_core.json_values import Json
from channels.email.html import markdown_html, render_html
from channels.email.plain_text import render_text
from channels.email.wording import cut, wording
from channels.outgoing import Outgoing, OutgoingKind, QuestionCard, Vote
from tests.unit.channels.email.cards import APPROVAL, CHOICE, FORM, TEXT, outgoing

LINK = "https://parley.example.com/a/abc"


def plain(message: Outgoing, *, link: str = LINK, may_answer: bool = True) -> str:
    """Give the plain text."""
    return render_text(wording(message, link=link, may_answer=may_answer))


def test_question_comes_first_then_how_to_answer_then_context() -> None:
    """Somebody on a phone sees the question without scrolling."""
    text = plain(outgoing())
    order = ["May I pay", "refund", "amount", 'Reply "yes"', LINK, "two weeks", "Asked:"]

    assert [text.index(one) for one in order] == sorted(text.index(one) for one in order)


def test_approval_shows_exactly_what_runs() -> None:
    """Tool and arguments, letter for letter; what can't be seen is written out."""
    card = replace(APPROVAL, arguments={"to": "ada\u202e\u200b@x", "note": "a\nto: evil"})
    text = plain(outgoing(question=card))

    assert "    refund\n" in text
    assert "ada\\u202e\\u200b@x" in text
    assert "\n        to: evil" in text  # right of the names: it can't pass for an argument


def test_choices_are_numbered_with_what_they_mean() -> None:
    """A number is quick to type."""
    text = plain(outgoing(question=CHOICE))

    assert "  1. basic: 10 a month\n  2. pro" in text
    assert "number or the name" in text


def test_form_has_only_the_link_and_without_it_says_so() -> None:
    """No way is promised that does not exist."""
    assert LINK in plain(outgoing(question=FORM))
    assert "Reply" not in plain(outgoing(question=FORM))
    assert "can't be answered by mail" in plain(outgoing(question=FORM), link="")
    assert "Reply to this mail" in plain(outgoing(question=TEXT), link="")


def test_who_may_not_answer_is_told_who_does() -> None:
    """They get no link, and no word to try."""
    text = plain(outgoing(), link="", may_answer=False)

    assert "up to otto@example.org, approver" in text
    assert 'Reply "yes"' not in text


def test_who_has_decided_so_far_is_told() -> None:
    """Where several decide: what it takes, who said what, and what they would change."""
    card = replace(
        APPROVAL,
        quorum=2,
        not_requester=True,
        votes=[Vote(by="email:ben@example.org", approved=True, arguments={"amount": 1})],
    )
    text = plain(outgoing(question=card))

    assert "2 people must approve the same. Whoever asked for it can't approve it." in text
    assert "ben@example.org approved with other arguments" in text
    assert "+ amount: 1" in text


def test_expiry_is_told() -> None:
    """In a form that is the same everywhere."""
    card = replace(APPROVAL, expires_at=1_800_000_000_000)

    assert "expires at 2027-01-15 08:00 UTC" in plain(outgoing(question=card))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("question.reminded", "Reminder"),
        ("question.escalated", "Nobody has answered"),
        ("thread.finished", "All **done**"),
        ("thread.failed", "could not go on"),
        ("thread.cancelled", "cancelled"),
        ("notice", "All **done**"),
    ],
)
def test_each_kind_says_what_it_is(kind: OutgoingKind, words: str) -> None:
    """In words, not in a subject alone."""
    assert words in plain(outgoing(kind=kind, text="All **done**"))


def test_failure_has_no_traceback() -> None:
    """Its last line is all that helps a person."""
    error = 'Traceback (most recent call last)\n  File "x.py"\nValueError: no such order\n'
    text = plain(outgoing(kind="thread.failed", text=error, question=None))

    assert "> ValueError: no such order" in text
    assert "File" not in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "answered", "answer": {"approved": True}}, "Approved by otto@example.org"),
        ({"status": "answered", "answer": {"approved": False}, "comment": "no!"}, "Denied by otto"),
        (
            {"status": "answered", "answer": {"approved": True, "arguments": {"amount": 1}}},
            "+ amount: 1",
        ),
        ({"status": "expired"}, "that is not a denial"),
        ({"status": "expired", "expiry_denies": True}, "that counts as a no"),
        ({"status": "withdrawn"}, "needs no answer any more"),
        ({"status": "withdrawn", "taken_back": True}, "taken back by otto"),
    ],
)
def test_settlement_is_short_and_says_who(changes: dict[str, object], words: str) -> None:
    """Answered, expired and withdrawn are three things."""
    card: QuestionCard = replace(APPROVAL, answered_by="email:otto@example.org", **changes)  # type: ignore[arg-type]
    text = plain(outgoing(kind="question.settled", question=card))

    assert words in text
    assert "You need not do anything." in text
    assert len(text) < 800


def test_question_that_was_settled_on_the_way_is_told_as_such() -> None:
    """Nobody is asked what is decided."""
    card = replace(APPROVAL, status="withdrawn")

    assert 'Reply "yes"' not in plain(outgoing(question=card))


def test_long_text_is_cut_and_says_so() -> None:
    """Politely: at the end of a line if there is one."""
    assert cut("short", 100) == "short"
    assert cut(f"{'a' * 90}\n{'b' * 90}", 100).startswith(f"{'a' * 90}\n\n… (cut here")
    huge = plain(outgoing(question=replace(APPROVAL, prompt="x" * 10**6, context="y" * 10**6)))
    assert len(huge) < 100_000


def test_nobody_is_asked_for_a_word_about_what_they_have_not_seen() -> None:
    """Arguments that do not fit into a mail are all on the page behind the link."""
    huge = outgoing(question=replace(APPROVAL, arguments={"note": "x" * 30_000, "z": "evil"}))

    assert 'Reply "yes"' not in plain(huge)
    assert "Please use your own link:" in plain(huge)
    assert 'Reply "yes"' in plain(huge, link="")


@pytest.mark.parametrize(
    "evil",
    [
        "<script>alert(1)</script>",
        "<img src=https://evil.example/x.png onerror=alert(1)>",
        "![](https://evil.example/x.png)",
        "[a](javascript:alert(1))",
        "[a](data:text/html,x)",
        "<a href='https://evil.example' onclick='x()'>a</a>",
        "`</pre><script>`",
        "<style>*{display:none}</style>",
    ],
)
def test_html_runs_and_fetches_nothing(evil: str) -> None:
    """An agent repeats what strangers wrote."""
    card = replace(
        APPROVAL, prompt=evil, context=evil, tool=evil, arguments={evil: evil}, audience=[evil]
    )
    html = render_html(wording(outgoing(question=card), link=LINK)).lower()

    assert "<script" not in html
    assert "<img" not in html
    assert "<style" not in html
    assert "<a href='" not in html
    assert 'href="javascript' not in html
    assert 'href="data' not in html


def test_html_that_was_typed_is_shown_as_typed() -> None:
    """It may be what the question is about."""
    assert markdown_html("use <b> & <i>") == "<p>use &lt;b&gt; &amp; &lt;i&gt;</p>\n"


def test_markdown_keeps_what_helps() -> None:
    """Emphasis, lists, code, tables and links."""
    html = markdown_html("**a**\n\n- b\n\n`c`\n\n[d](https://x.example)\n\n|e|\n|-|\n|f|\n")

    assert "<strong>a</strong>" in html
    assert "<li>b</li>" in html
    assert "<code>c</code>" in html
    assert 'href="https://x.example"' in html
    assert "<td>f</td>" in html


@pytest.mark.parametrize(
    ("card", "answer", "words"),
    [
        (CHOICE, "pro", "“pro” was chosen by somebody in Slack"),
        (TEXT, "A-17\nor so", "> A-17\n> or so"),
        (FORM, {"floor": 3}, "    floor: 3"),
        (replace(TEXT, kind="event"), [1, 2], "    [1,2]"),
    ],
)
def test_settlement_shows_the_answer(card: QuestionCard, answer: Json, words: str) -> None:
    """Those who were asked too want to know it, whatever kind it is of."""
    settled = replace(card, status="answered", answer=answer, answered_by="slack:T1:U1")

    assert words in plain(outgoing(kind="question.settled", question=settled))


def test_event_asks_nobody_for_an_answer() -> None:
    """The agent waits for something to happen."""
    text = plain(outgoing(question=replace(TEXT, kind="event")))

    assert "Nothing to do here" in text
    assert LINK not in text


def test_html_says_what_the_plain_text_says() -> None:
    """Choices, quotes, code and the link."""
    choice = render_html(wording(outgoing(question=CHOICE), link=LINK))
    failed = render_html(wording(outgoing(kind="thread.failed", text="a < b", question=None)))

    assert "<li><strong>basic</strong>: 10 a month</li>" in choice
    assert f'<a href="{LINK}"' in choice
    assert "a &lt; b</blockquote>" in failed
