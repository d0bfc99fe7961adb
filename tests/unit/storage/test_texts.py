"""How values are written: one way for all stores, and one error for what can't be read."""

from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.errors import NotJson
from storage.errors import Unreadable
from storage.texts import (
    after_prefix,
    check_text,
    event_text,
    is_storable,
    object_text,
    read_events,
    read_object,
    scrubbed,
)
from tests.contract.stores.rows import said


class Colour(StrEnum):
    """Text of another class."""

    RED = "red"


def nested(depth: int) -> dict[str, object]:
    """Make an object within objects."""
    value: dict[str, object] = {}
    for _ in range(depth):
        value = {"x": value}
    return value


def test_events_stand_side_by_side() -> None:
    """A store puts their texts together with commas, and they are read at once."""
    events = [said("one"), said("zwei ü")]

    assert events == read_events(",".join(event_text(event) for event in events), "t1")
    assert read_events("", "t1") == []


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"ThreadTeleported","at":1}',
        '{"type":"MessageReceived","at":1,"text":"x","mood":"blue"}',
        '{"type":"MessageReceived","at":1',
        "[]",
    ],
)
def test_event_of_newer_code_or_damage_is_named_with_its_thread(text: str) -> None:
    """Never a crash of the library underneath."""
    with pytest.raises(Unreadable, match=r"thread t7 .*newer code"):
        read_events(text, "t7")


def test_row_that_is_damaged_is_told_in_words() -> None:
    """A body is an object."""
    for text in ("", "[1]", "{", "null"):
        with pytest.raises(Unreadable):
            read_object(text)


def test_text_of_another_class_is_written_as_text() -> None:
    """An enum's member is what it says."""
    assert object_text({"colour": Colour.RED, "n": 1}, "summary") == '{"colour":"red","n":1}'


def test_what_is_not_json_is_refused_with_its_place() -> None:
    """A NUL, a Python object, half a pair, too deep a nesting."""
    for value in ({"a": ["\0"]}, {"a": object()}, {"\ud800": 1}, nested(100_000)):
        with pytest.raises(NotJson, match="summary"):
            object_text(value, "summary")


def test_backslash_before_u0000_is_no_nul() -> None:
    """Text about escapes is text."""
    value = {"how": "write \\u0000 for a NUL"}

    assert value == read_object(object_text(value, "summary"))


def test_text_that_no_database_takes_is_found_and_can_be_scrubbed() -> None:
    """Refused from people; made harmless in the words of an error."""
    for text in ("a\0b", "\udfff"):
        assert not is_storable(text)
        assert is_storable(scrubbed(text))
        with pytest.raises(NotJson, match="name is not JSON"):
            check_text(text, "name")
    assert scrubbed("ünï ✓") == "ünï ✓"


_SIGNS = st.sampled_from("ab\ud7ff\ue000\U0010ffff")


@given(st.text(_SIGNS, max_size=3), st.text(_SIGNS, max_size=4))
def test_texts_of_a_prefix_lie_between_it_and_the_one_after_them_all(prefix: str, key: str) -> None:
    """By code points, on either side of what no text holds; without an end, to the last of all."""
    end = after_prefix(prefix)

    assert is_storable(end)
    assert key.startswith(prefix) == (prefix <= key and (not end or key < end))
