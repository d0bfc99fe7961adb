"""What an approver changed, in words that everybody can check."""

from __future__ import annotations

import pytest

from agent_core.json_values import JsonObject
from agent_core.thread.changes import Change, approved_changes, changes


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"amount": 49.9}, {"amount": 20}, ["amount: 49.9 → 20"]),
        ({"order": "1"}, {"order": "1"}, []),
        ({"n": 1}, {"n": True}, ["n: 1 → true"]),
        ({"n": 1}, {"n": 1.0}, ["n: 1 → 1.0"]),
        ({}, {"note": None}, ["note: (nothing) → null"]),
        ({"note": "x"}, {}, ['note: "x" → (removed)']),
        ({"to": {"city": "A", "zip": 1}}, {"to": {"city": "B", "zip": 1}}, ['to.city: "A" → "B"']),
        ({"to": {"city": "A"}}, {"to": "B"}, ['to: {"city":"A"} → "B"']),
        ({"ids": [1, 2]}, {"ids": [1]}, ["ids: [1,2] → [1]"]),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, ["a: 1 → (removed)", "b: 2 → 3", "c: (nothing) → 4"]),
    ],
)
def test_each_argument_that_changed_is_named(
    before: JsonObject, after: JsonObject, words: list[str]
) -> None:
    """With what it was and what it is; the rest is left out."""
    assert [one.words() for one in changes(before, after)] == words


def test_a_long_value_is_cut_in_words_but_kept_as_a_value() -> None:
    """A line stays a line."""
    [change] = changes({"text": "a" * 500}, {"text": "b"})

    assert change.before == "a" * 500
    assert len(change.words()) < 250


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"approved": True}, ()),
        ({"approved": False}, ()),
        (None, ()),
        ("yes", ()),
        (
            {"approved": True, "arguments": {"order": "2"}},
            (Change(name="order", before="1", after="2"),),
        ),
    ],
)
def test_an_approval_tells_what_it_changed(value: object, expected: tuple[Change, ...]) -> None:
    """Only an approval with edits has something to tell."""
    assert approved_changes({"order": "1"}, value) == expected


def test_arguments_may_be_added_to_none() -> None:
    """A tool whose arguments all have defaults may have been chosen with none."""
    added = approved_changes(None, {"approved": True, "arguments": {"order": "2"}})

    assert [one.words() for one in added] == ['order: (nothing) → "2"']
