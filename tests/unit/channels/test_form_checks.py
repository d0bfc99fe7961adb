"""What of a filled-in form does not fit, and where that is said."""

from __future__ import annotations

import pytest

from agent_core.json_values import JsonObject
from channels.form_checks import NEEDED, Unfit, unfit
from channels.form_fields import schema_fields

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "minLength": 3},
        "floor": {"$ref": "#/$defs/floor"},
        "size": {"enum": ["small", "large"]},
    },
    "required": ["street", "size"],
    "maxProperties": 2,
    "$defs": {"floor": {"type": "integer", "minimum": 0}},
}
FIELDS = schema_fields(SCHEMA) or ()


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        ({"street": "Elm", "size": "large"}, None),
        ({"street": "Elm"}, {2}),
        ({"street": "El", "floor": -1}, {0, 1, 2}),
        ({}, {0, 2}),
    ],
)
def test_what_does_not_fit_is_said_beside_its_field(
    value: JsonObject, marked: set[int] | None
) -> None:
    """Every field at once, so that nobody mends one to hear of the next."""
    found = unfit(FIELDS, value, SCHEMA)

    assert (None if found is None else set(found.by_field)) == marked
    assert found is None or not found.whole


def test_words_of_a_field_do_not_name_it_again_and_none_is_left_out() -> None:
    """They stand beside it."""
    found = unfit(FIELDS, {"street": "El"}, SCHEMA)

    assert found is not None
    assert found.by_field == {0: '"El" is shorter than 3 characters', 2: NEEDED}


def test_what_no_field_alone_is_to_blame_for_is_said_of_the_whole() -> None:
    """A rule about several fields."""
    found = unfit(FIELDS, {"street": "Elm", "floor": 1, "size": "small"}, SCHEMA)

    assert isinstance(found, Unfit)
    assert not found.by_field
    assert "more than 2 properties" in found.whole
