"""What may be stored: plain JSON, and the exact place of whatever is not."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.errors import NotJson, ParleyError
from agent_core.json_values import (
    MAX_DEPTH,
    Json,
    canonical,
    compact,
    plain,
    plain_object,
    storable,
)


class Word(StrEnum):
    """An enum of text."""

    HELLO = "hello"


class Old(str, Enum):  # noqa: UP042 (the way before StrEnum, which many tools still use)
    """An enum of text, as it was written before Python 3.11."""

    HELLO = "hello"


class Number(IntEnum):
    """An enum of numbers."""

    ONE = 1


class Part(msgspec.Struct):
    """A value of ours with text in it."""

    text: str
    more: tuple[dict[str, Json], ...] = ()


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=80)
@given(_json)
def test_json_passes_as_an_equal_copy_that_survives_writing(value: Json) -> None:
    """What is stored is what was passed."""
    assert plain(value) == value
    assert msgspec.json.decode(compact(plain(value))) == value


def test_the_copy_is_deep() -> None:
    """What the caller changes later doesn't reach the log."""
    value = {"a": [{"b": 1}]}
    copy = plain(value)
    value["a"][0]["b"] = 2

    assert copy == {"a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("value", "bare"),
    [(Word.HELLO, "hello"), (Old.HELLO, "hello"), (Number.ONE, 1), (OrderedDict(a=1), {"a": 1})],
)
def test_what_is_json_in_disguise_is_stored_bare(value: object, bare: Json) -> None:
    """An enum's member is its text, and nothing of Python is left."""
    copy = plain({"x": value})["x"]

    assert copy == bare
    assert type(copy) is type(bare)


@pytest.mark.parametrize("value", [True, False, None, 0, -0.0, "", [], {}, 2**80, -(2**80)])
def test_the_smallest_and_the_largest_pass(value: Json) -> None:
    """True is not 1."""
    copy = plain(value)

    assert copy == value
    assert type(copy) is type(value)


REFUSALS: list[tuple[object, str, str]] = [
    (object(), "$", "a Python object"),
    ((1, 2), "$", "a Python tuple: pass a list"),
    ({1}, "$", "a Python set: pass a list"),
    (frozenset({1}), "$", "a Python frozenset: pass a list"),
    (b"x", "$", "a Python bytes"),
    (Decimal(1), "$", "a Python Decimal"),
    (datetime(2026, 1, 1, tzinfo=UTC), "$", "a Python datetime"),
    (1 + 2j, "$", "a Python complex"),
    (print, "$", "a Python builtin_function_or_method"),
    (float("nan"), "$", "the number nan"),
    (float("inf"), "$", "the number inf"),
    ([1, [2, float("-inf")]], "$[1][1]", "the number -inf"),
    ({"a": {"b": [0, {"c": {1}}]}}, "$.a.b[1].c", "a Python set: pass a list"),
    ({"a": {1: "x"}}, "$.a", "the key 1 is a Python int, not text"),
    ({None: 1}, "$", "the key None is a Python NoneType, not text"),
    ({("a", "b"): 1}, "$", "the key ('a', 'b') is a Python tuple: pass a list, not text"),
    ({"a": "x\0y"}, "$.a", "text with a NUL character, which databases refuse"),
    ({"a": {"\0": 1}}, "$.a (a key)", "text with a NUL character, which databases refuse"),
    (["\ud800"], "$[0]", "text with half of a surrogate pair"),
    ({"\udfff": 1}, "$ (a key)", "text with half of a surrogate pair"),
]


@pytest.mark.parametrize(
    ("value", "path", "problem"), REFUSALS, ids=lambda one: ascii(one).partition(" at 0x")[0][:40]
)
def test_what_is_not_json_is_refused_with_its_path(value: object, path: str, problem: str) -> None:
    """Where it is passed, and by the place in it."""
    with pytest.raises(NotJson) as refusal:
        plain(value)

    assert (refusal.value.path, refusal.value.problem) == (path, problem)
    assert str(refusal.value) == f"{path} is not JSON: {problem}"
    assert isinstance(refusal.value, ParleyError)


def test_the_path_begins_with_the_name_that_the_caller_gives() -> None:
    """A tool's author reads of `result`, not of `$`."""
    with pytest.raises(NotJson, match=r"^result\.when\[0\] is not JSON: a Python datetime$"):
        plain({"when": [datetime(2026, 1, 1, tzinfo=UTC)]}, "result")


def nested(depth: int) -> list[Json]:
    """Lists in lists."""
    value: list[Json] = []
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_beyond_reason_is_refused() -> None:
    """No honest value needs it, and every reader recurses."""
    assert plain(nested(MAX_DEPTH)) == nested(MAX_DEPTH)

    assert plain_object({"a": nested(MAX_DEPTH - 1)}) == {"a": nested(MAX_DEPTH - 1)}

    with pytest.raises(NotJson, match="nested more than 100 deep") as refusal:
        plain(nested(MAX_DEPTH + 1))
    assert refusal.value.path == "$" + "[0]" * 101


def test_a_value_within_itself_is_refused() -> None:
    """It would have no end."""
    loop: list[Json] = []
    loop.append(loop)

    with pytest.raises(NotJson, match="nested more than 100 deep"):
        plain(loop)


def test_a_number_too_long_to_be_written_is_refused_where_it_is_passed() -> None:
    """Python writes no more than 4300 digits: later, in the log, it would be too late."""
    with pytest.raises(NotJson, match=r"^\$\.n is not JSON"):
        plain({"n": 10**5000})


@pytest.mark.parametrize("value", [[], "x", None, 1, (1,)])
def test_an_object_is_a_dict(value: object) -> None:
    """Where one is expected."""
    with pytest.raises(
        NotJson, match=r"^payload is not JSON: an object was expected, not a Python"
    ):
        plain_object(value, "payload")


def test_an_object_is_checked_like_any_value() -> None:
    """Also within."""
    assert plain_object({"a": [1]}) == {"a": [1]}
    with pytest.raises(NotJson, match=r"^\$\.a is not JSON: a Python set"):
        plain_object({"a": set()})


def test_equal_values_have_one_spelling() -> None:
    """However their keys are sorted, at every depth."""
    assert canonical({"b": 1, "a": {"d": 1, "c": 2}}) == b'{"a":{"c":2,"d":1},"b":1}'


def test_compact_text_is_short_and_keeps_the_order() -> None:
    """For a model to read."""
    assert compact({"b": [1, None], "a": "ü"}) == '{"b":[1,null],"a":"ü"}'


def test_our_own_values_are_written_if_a_database_can_store_them() -> None:
    """Text that only looks like a NUL is fine."""
    assert storable(Part("hello"), "Part") == b'{"text":"hello","more":[]}'
    assert storable(Part("\\u0000"), "Part") == b'{"text":"\\\\u0000","more":[]}'


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Part("a\0"), "Part.text"),
        (Part("\ud800"), "Part.text"),
        (Part("x", ({"a": ["\0"]},)), "Part.more[0].a[0]"),
        (Part("x", ({"\ud800": 1},)), "Part.more[0] (a key)"),
    ],
)
def test_text_that_no_database_stores_is_refused_with_its_place(value: Part, path: str) -> None:
    """In our own values too."""
    with pytest.raises(NotJson) as refusal:
        storable(value, "Part")

    assert refusal.value.path == path
