"""Events in words: every type there is, and those that there are not yet."""

from __future__ import annotations

from typing import get_args

import pytest

from agent_core.thread.events import Event
from gateway.control.event_words import TOLD, decision, words
from tests.unit.gateway.canned import AT

CALLS = {"3.0": "refund"}


def told(kind: str, **fields: object) -> str:
    """Tell an event."""
    return words({"seq": 9, "type": kind, "at": AT, **fields}, dict(CALLS))


def test_every_type_of_event_is_told() -> None:
    """A new type must get its line here."""
    assert {kind.__name__ for kind in get_args(Event)} == TOLD


def test_type_of_a_newer_server_is_told_by_its_name_alone() -> None:
    """An old command line goes on working."""
    assert told("SomethingNew", anything=1) == ""


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        (
            "ThreadLaunched",
            {"agent": "desk", "requester": "otto", "forked_from": "th_0"},
            "desk for otto, forked from th_0",
        ),
        ("ToolStarted", {"call": "3.0", "key": "k", "attempt": 2}, "refund, attempt 2"),
        ("ToolStarted", {"call": "7.7", "key": "k"}, "call 7.7"),
        ("ProgressNoted", {"call": "3.0", "text": "half"}, "refund: half"),
        (
            "ToolFailed",
            {"call": "3.0", "reason": "outcome_unknown", "error": "crash"},
            "refund, outcome unknown: crash",
        ),
        (
            "QuestionAsked",
            {"question": {"id": "q_1", "kind": "text", "prompt": "Why?", "to": ["otto"]}},
            "Why? (to otto)\ntext q_1",
        ),
        (
            "QuestionAnswered",
            {"question": "q_1", "value": {"approved": False}, "by": "otto", "comment": "no"},
            "otto: denied: no\nto q_1",
        ),
        ("QuestionReminded", {"question": "q_1"}, "q_1"),
        ("QuestionEscalated", {"question": "q_1", "to": ["boss", "ceo"]}, "q_1 to boss, ceo"),
        ("QuestionWithdrawn", {"question": "q_1", "by": "otto"}, "q_1: by otto"),
        ("AnswerRefused", {"question": "q_1", "reason": "too late"}, "q_1: too late"),
        ("ThreadResumed", {"by": "otto", "instruction": "go"}, "by otto: go"),
        ("ThreadCancelled", {}, ""),
        (
            "PersonErased",
            {"name": "erased person #a1", "by": "cli", "reason": "asked for"},
            "erased person #a1: by cli: asked for",
        ),
        ("CompensationRan", {"call": "3.0"}, "refund: undone"),
        ("CompensationRan", {"call": "3.0", "error": "no"}, "refund: no"),
        ("LimitReached", {"limit": "MaxSteps(3)", "then": "ask"}, "MaxSteps(3), then ask"),
        (
            "ContextCompacted",
            {"summary": "x", "through": 5},
            "all up to event 5 is now a summary",
        ),
        ("ThreadFailed", {"error": "no model"}, "no model"),
        ("ThreadFinished", {}, ""),
    ],
)
def test_event_is_told_in_few_words(kind: str, fields: dict[str, object], expected: str) -> None:
    """Who, what, and the tool behind a call."""
    assert told(kind, **fields) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"approved": True}, "approved"),
        ({"approved": True, "arguments": {"amount": 1.5}}, "approved with amount: 1.50"),
        ("yes", "yes"),
        ({"a": 1}, "a: 1"),
        (None, "null"),
    ],
)
def test_answer_of_any_kind_is_told(value: object, expected: str) -> None:
    """A decision by its name, anything else as it is."""
    assert decision(value) == expected
