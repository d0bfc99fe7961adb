"""The demo's words for values and events."""

from __future__ import annotations

import pytest

from agent_core.json_values import Json
from agent_core.thread.events import Event, Millis, ThreadPaused, ToolFailed
from agent_core.thread.questions import CallKey
from agent_core.thread.state import Call
from gateway.demo.words import fact, speech, value_words

KEY = CallKey("3.0")
CALLS = {KEY: Call(key=KEY, tool="refund", arguments={})}
FAILED = ToolFailed(at=Millis(0), call=KEY, reason="exception", error="disk full")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("as it is", "as it is"),
        (59.9, "59.90"),
        ({"order": "1042", "paid": 5.0}, "order: 1042, paid: 5.00"),
        ([1, None], "[1, null]"),
    ],
)
def test_values_are_written_for_people(value: Json, words: str) -> None:
    """Money has its cents, and an object has no braces."""
    assert words == value_words(value)


def test_failed_tool_is_told() -> None:
    """A failure is part of the story, too."""
    assert list(speech(FAILED, CALLS)) == [("result", "refund failed: disk full")]
    assert fact(FAILED, CALLS) == "disk full"


def test_event_that_the_story_does_not_know_is_passed_over() -> None:
    """The log shows it by its name alone."""
    event: Event = ThreadPaused(at=Millis(0))

    assert list(speech(event, CALLS)) == []
    assert fact(event, CALLS) == ""
