"""`parley questions` and `parley halt`: answers of every kind, and how they are sent."""

from __future__ import annotations

import json

import pytest

from tests.unit.gateway.canned import QUESTION, Canned
from tests.unit.gateway.cli.conftest import Parley

ANSWERED = QUESTION | {
    "status": "answered",
    "answer": {"approved": True},
    "answered_by": "otto",
}


def test_list_shows_what_is_open_and_how_to_answer(parley: Parley, canned: Canned) -> None:
    """Open ones, unless told otherwise; the first serves as the example."""
    canned.on("GET", "/v1/questions", {"items": [QUESTION], "next_cursor": None})

    ran = parley("questions", "list")

    assert canned.asked[0].query == {"status": "open", "limit": "50"}
    assert "q_1" in ran.out
    assert "May I refund order 1042?" in ran.out
    assert ran.err == (
        "for example: parley questions answer q_1 --approve | --deny [--comment WHY]\n"
    )


def test_list_tells_what_became_of_a_question(parley: Parley, canned: Canned) -> None:
    """Answered by whom and how, or expired."""
    closed = [ANSWERED, QUESTION | {"id": "q_2", "status": "expired"}]
    canned.on("GET", "/v1/questions", {"items": closed, "next_cursor": None})

    out = parley("questions", "list", "--status", "").out

    assert "(approved by otto)" in out
    assert "(expired)" in out


def test_no_questions_is_said(parley: Parley, canned: Canned) -> None:
    """Talk, not data."""
    canned.on("GET", "/v1/questions", {"items": [], "next_cursor": None})

    ran = parley("questions", "list")

    assert (ran.code, ran.out, ran.err) == (0, "", "nobody is being asked anything\n")


@pytest.mark.parametrize(
    ("options", "body"),
    [
        (["--approve"], {"value": {"approved": True}}),
        (["--deny"], {"value": {"approved": False}}),
        (
            ["--deny", "--comment", "too much"],
            {"value": {"approved": False}, "comment": "too much"},
        ),
        (["--text", "yes"], {"value": "yes"}),
        (["--text", "12"], {"value": "12"}),
        (["--text", ""], {"value": ""}),
        (["--value", '{"a": [1, null]}'], {"value": {"a": [1, None]}}),
        (["--value", "null"], {"value": None}),
    ],
)
def test_answer_has_the_shape_of_its_kind(
    parley: Parley, canned: Canned, options: list[str], body: dict[str, object]
) -> None:
    """A key that may only answer is enough: nothing is read first."""
    canned.on("POST", "/v1/questions/q_1/answer", ANSWERED)

    ran = parley("questions", "answer", "q_1", *options)

    assert (ran.code, ran.out, ran.err) == (0, "q_1\n", "answered: approved by otto\n")
    assert json.loads(canned.asked[0].body) == body
    assert len(canned.asked) == 1


def test_edits_change_the_arguments_that_were_asked_about(parley: Parley, canned: Canned) -> None:
    """The others stay; a text stays a text, also if the new one looks like a number."""
    canned.on("GET", "/v1/questions/q_1", QUESTION)
    canned.on("POST", "/v1/questions/q_1/answer", ANSWERED)

    edits = ["--edit", "amount=45.5", "--edit", "order=2000", "--edit", "note=a=b"]
    ran = parley("questions", "answer", "q_1", "--approve", *edits, "--json")

    assert ran.data == ANSWERED
    assert json.loads(canned.asked[1].body) == {
        "value": {
            "approved": True,
            "arguments": {"order": "2000", "amount": 45.5, "note": "a=b"},
        }
    }


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--approve", "--deny"],
        ["--approve", "--text", "x"],
        ["--deny", "--edit", "a=1"],
        ["--value", "{not json"],
        ["--approve", "--edit", "amount"],
    ],
)
def test_answer_that_says_nothing_or_two_things_is_wrong_usage(
    parley: Parley, canned: Canned, options: list[str]
) -> None:
    """Exit code 2, and nothing was sent."""
    ran = parley("questions", "answer", "q_1", *options)

    assert (ran.code, ran.out) == (2, "")
    assert canned.asked == []


def test_second_answer_is_told_who_was_first(parley: Parley, canned: Canned) -> None:
    """In the server's own words."""
    words = "already answered by otto at 2026-11-16 09:31 UTC"
    canned.problem("POST", "/v1/questions/q_1/answer", 409, words)

    ran = parley("questions", "answer", "q_1", "--approve")

    assert (ran.code, ran.err) == (1, f"parley: {words}\n")


def test_halt_is_pulled_with_a_reason_and_lifted(parley: Parley, canned: Canned) -> None:
    """In an emergency nobody wants to think of a reason: there is one."""
    canned.on("PUT", "/v1/halt", {"halted": True, "reason": "fire"})
    canned.on("DELETE", "/v1/halt", {"halted": False, "reason": ""})

    assert parley("halt", "on", "--reason", "fire", "--json").data["halted"] is True
    assert parley("halt", "on").err == "halted, until `parley halt off`\n"
    assert parley("halt", "off").err == "lifted: everything goes on\n"
    assert [json.loads(asked.body or "null") for asked in canned.asked] == [
        {"reason": "fire"},
        {"reason": "halted by hand"},
        None,
    ]


def test_vote_that_does_not_decide_says_so(parley: Parley, canned: Canned) -> None:
    """Counted, and how many it takes."""
    votes = [{"by": "otto", "approved": True, "at": "2026-11-16T09:31:00Z"}]
    canned.on("POST", "/v1/questions/q_1/answer", QUESTION | {"quorum": 2, "votes": votes})

    ran = parley("questions", "answer", "q_1", "--approve")

    assert (ran.code, ran.out) == (0, "q_1\n")
    assert ran.err == "counted: still open: 1 said, 2 must agree\n"


@pytest.mark.parametrize(
    ("command", "became", "words"),
    [
        ("withdraw", {"status": "withdrawn"}, "question withdrawn\n"),
        (
            "take-back",
            {"status": "withdrawn", "taken_back": True},
            "question taken back; it is asked anew\n",
        ),
    ],
)
def test_question_can_be_withdrawn_and_its_approval_taken_back(
    parley: Parley, canned: Canned, command: str, became: dict[str, object], words: str
) -> None:
    """With a reason, which stays in the log."""
    canned.on("POST", f"/v1/questions/q_1/{command}", QUESTION | became)

    ran = parley("questions", command, "q_1", "--reason", "wrong order")
    data = parley("questions", command, "q_1", "--json")

    assert json.loads(canned.asked[0].body) == {"reason": "wrong order"}
    assert (ran.code, ran.out, ran.err) == (0, "q_1\n", words)
    assert json.loads(data.out)["status"] == "withdrawn"


def test_too_late_to_take_back_is_told_in_the_servers_words(parley: Parley, canned: Canned) -> None:
    """And fails."""
    words = "it is too late to take that back: refund has begun to run"
    canned.problem("POST", "/v1/questions/q_1/take-back", 409, words)

    ran = parley("questions", "take-back", "q_1")

    assert (ran.code, ran.err) == (1, f"parley: {words}\n")
