"""Forms: usable schemas, and answers that fit them."""

from __future__ import annotations

import pytest

from agent_core.errors import WrongShape
from agent_core.json_values import JsonObject
from agent_core.thread.forms import check_form, check_schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {"n": {"type": "integer"}}},
        {"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}},
    ],
)
def test_a_usable_schema_passes(schema: JsonObject) -> None:
    """Any schema of an object, also by references within itself."""
    check_schema(schema)
    check_form(schema, {})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "string"}, r"describes an object, not 'string'"),
        ({"type": ["object", "null"]}, r"describes an object, not \['object', 'null'\]"),
        ({"properties": 3}, r"^the form's schema is not usable: [^\n]+$"),
        ({"properties": {"n": {"type": "whole"}}}, r"^the form's schema is not usable: [^\n]+$"),
        ({"properties": {"n": {"pattern": "("}}}, r"^the form's schema is not usable: [^\n]+$"),
        ({"$ref": "#/$defs/none"}, r"^the form's schema is not usable: [^\n]+$"),
        ({"$ref": "http://127.0.0.1:9/x.json"}, r"^the form's schema is not usable: [^\n]+$"),
        ({"$ref": "file:///etc/passwd"}, r"^the form's schema is not usable: [^\n]+$"),
    ],
)
def test_an_unusable_schema_is_refused_in_one_line(schema: JsonObject, problem: str) -> None:
    """It may come from a model: nothing is fetched for it, and its author is told."""
    with pytest.raises(ValueError, match=problem):
        check_schema(schema)


def test_a_form_tells_where_and_what() -> None:
    """By the path of each problem."""
    schema = {"properties": {"lines": {"items": {"properties": {"n": {"type": "integer"}}}}}}

    with pytest.raises(WrongShape, match=r"lines\.1\.n: .*integer"):
        check_form(schema, {"lines": [{"n": 1}, {"n": "x"}]})


def test_a_form_names_a_few_problems_and_not_a_thousand() -> None:
    """A person can't read more than five."""
    schema = {"properties": {"lines": {"items": {"type": "integer"}}}}

    with pytest.raises(WrongShape) as refusal:
        check_form(schema, {"lines": ["x"] * 1000})

    assert str(refusal.value).count("lines.") == 5


def test_a_pattern_that_explodes_elsewhere_takes_no_time_here() -> None:
    """Patterns run in time linear in the text: this one would take others years."""
    schema = {"properties": {"word": {"pattern": "^(a+)+$"}}}

    with pytest.raises(WrongShape, match="word"):
        check_form(schema, {"word": "a" * 5000 + "!"})
