"""Digests: what an approval is bound to, and what a tool's parameters look like."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.json_values import JsonObject
from agent_core.thread.digest import approval_digest, signature_digest

PARAMETERS: JsonObject = {
    "type": "object",
    "title": "Refund",
    "description": "Pay back.",
    "properties": {
        "order": {"type": "string", "title": "Order", "examples": ["123"]},
        "who": {"$ref": "#/$defs/Who"},
    },
    "required": ["order"],
    "$defs": {"Who": {"type": "object", "properties": {"name": {"type": "string"}}}},
}

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), _json, max_size=5))
def test_the_order_of_keys_does_not_matter(arguments: JsonObject) -> None:
    """The same arguments have the same digest, however a model or a database sorts them."""
    turned = dict(reversed(arguments.items()))

    assert approval_digest("refund", "s", arguments) == approval_digest("refund", "s", turned)


@pytest.mark.parametrize(
    ("tool", "signature", "arguments"),
    [
        ("refunds", "s", {"a": 1}),
        ("refund", "t", {"a": 1}),
        ("refund", "s", {"a": 2}),
        ("refund", "s", {"a": "1"}),
        ("refund", "s", {"a": True}),
        ("refund", "s", {"b": 1}),
        ("refund", "s", {"a": 1, "b": None}),
        ("refund", "s", {}),
    ],
)
def test_an_approval_is_for_exactly_this_tool_signature_and_arguments(
    tool: str, signature: str, arguments: JsonObject
) -> None:
    """Anything else has another digest."""
    assert approval_digest("refund", "s", {"a": 1}) != approval_digest(tool, signature, arguments)


def test_the_order_of_a_list_does_matter() -> None:
    """It is another argument."""
    assert approval_digest("t", "s", {"a": [1, 2]}) != approval_digest("t", "s", {"a": [2, 1]})


def test_prose_in_a_schema_does_not_matter() -> None:
    """A better description is no reason to ask people again."""
    reworded = {
        "$defs": {
            "Who": {
                "properties": {"name": {"description": "Full name", "type": "string"}},
                "type": "object",
                "title": "Somebody",
            }
        },
        "required": ["order"],
        "properties": {
            "who": {"$ref": "#/$defs/Who", "description": "whom"},
            "order": {"type": "string"},
        },
        "type": "object",
    }

    assert signature_digest(PARAMETERS) == signature_digest(reworded)


@pytest.mark.parametrize("name", ["title", "description", "examples", "properties", "$defs"])
def test_a_parameter_that_is_named_like_prose_does_matter(name: str) -> None:
    """Under `properties` the keys are the author's own names."""
    properties = {**PARAMETERS["properties"], name: {"type": "string"}}
    other = {**PARAMETERS["properties"], name: {"type": "integer"}}

    digests = {
        signature_digest(PARAMETERS),
        signature_digest({**PARAMETERS, "properties": properties}),
        signature_digest({**PARAMETERS, "properties": other}),
    }

    assert len(digests) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"required": []},
        {"properties": {}},
        {"$defs": {"Who": {"type": "string"}}},
        {"additionalProperties": False},
        {"anyOf": [{"type": "object", "title": "A"}]},
    ],
)
def test_another_shape_has_another_digest(change: JsonObject) -> None:
    """Names, types, and which are required."""
    assert signature_digest(PARAMETERS) != signature_digest({**PARAMETERS, **change})


def test_prose_within_lists_does_not_matter_either() -> None:
    """As in the branches of a union."""
    one = {"anyOf": [{"type": "string", "title": "A"}, {"type": "null"}]}
    two = {"anyOf": [{"type": "string"}, {"type": "null", "description": "none"}]}

    assert signature_digest(one) == signature_digest(two)


def test_a_schema_whose_properties_are_no_object_still_has_a_digest() -> None:
    """Nothing is too strange to be compared."""
    assert signature_digest({"properties": True}) != signature_digest({"properties": False})
