"""What a form asks, read from a JSON schema or from a call's arguments: one field for each input.

A schema may come from a model, so nothing about it is taken on trust; what no input can show
becomes JSON text. What an input looks like is each channel's own business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from agent_core.json_values import Json, JsonObject

MOST_FIELDS: Final = 90
"""A form in Slack has 100 blocks, and some are ours."""

_MOST_OPTIONS: Final = 100
"""So many stand in a menu of Slack's; and nobody reads more elsewhere."""

NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?")
"""What Slack's own number input can be relied on to give back unchanged."""

DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_LONG: Final = 200
_BREAK: Final = re.compile(r"[\r\n]")
_REFERENCE: Final = re.compile(r"#/(?:\$defs|definitions)/([^/]+)")

Shape = Literal["text", "lines", "integer", "number", "yes-no", "one", "many", "date", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value that a person can give."""

    name: str
    shape: Shape
    label: str = ""
    hint: str = ""
    is_required: bool = False
    is_nullable: bool = False
    is_whole: bool = False
    """It stands for all there is, as JSON, because single inputs could not."""
    is_offered: bool = False
    """A call could have it and has it not: left alone, it stays out of the call."""
    options: tuple[Json, ...] = ()
    default: Json = None
    schema: JsonObject | None = None
    """Where it comes from a schema: its own part of it."""


def schema_fields(schema: JsonObject) -> tuple[Field, ...] | None:
    """Read a form's fields; None when only JSON text can hold the answer."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not 0 < len(properties) <= MOST_FIELDS:
        return None
    required = schema.get("required")
    names = set(map(str, required)) if isinstance(required, list) else set()
    return tuple(
        _schema_field(str(name), part, schema, is_required=name in names)
        for name, part in properties.items()
    )


def argument_fields(arguments: JsonObject) -> tuple[Field, ...] | None:
    """Make a field of each argument; None when there are too many to show."""
    if len(arguments) > MOST_FIELDS:
        return None
    return tuple(
        Field(name=name, label=name, shape=_shape_of(value), default=value, is_required=True)
        for name, value in arguments.items()
    )


def edit_fields(arguments: JsonObject, parameters: JsonObject | None) -> tuple[Field, ...] | None:
    """Make a field of each argument as the tool's own parameters have it, where these are known.

    What the tool takes and nobody has given is offered too. None when only JSON text will do.
    """
    fields = argument_fields(arguments)
    offered = schema_fields(parameters) if parameters else None
    if fields is None or offered is None:
        return fields
    known = {one.name: one for one in offered}
    given = tuple(_given(one, known.get(one.name)) for one in fields)
    rest = tuple(replace(one, is_offered=True) for one in offered if one.name not in arguments)
    return (*given, *rest) if len(given) + len(rest) <= MOST_FIELDS else fields


def _given(argument: Field, parameter: Field | None) -> Field:
    """Take the parameter's input if it can hold what is there: a model may have given anything."""
    if parameter is None or not _holds(parameter, argument.default):
        return argument
    shape = "lines" if argument.shape == "lines" else parameter.shape  # one line holds no breaks
    return replace(parameter, default=argument.default, shape=shape)


def _holds(field: Field, value: Json) -> bool:
    match field.shape:
        case "one":
            return value in field.options
        case "many":
            return isinstance(value, list) and _in_order(value, field.options)
        case "yes-no":
            return isinstance(value, bool)
        case "integer" | "number":
            return not isinstance(value, bool) and bool(NUMBER.fullmatch(str(value)))
        case "date":  # any other text would not be shown
            return isinstance(value, str) and bool(DATE.fullmatch(value))
        case "text" | "lines":
            return isinstance(value, str)
        case "json":
            return True


def _in_order(value: list[Json], options: tuple[Json, ...]) -> bool:
    """Tell whether ticks could say the same: each once, in the order of the menu."""
    return value == [one for one in options if one in value]


def _shape_of(value: Json) -> Shape:
    match value:
        case bool():
            return "yes-no"
        case int() | float() if NUMBER.fullmatch(str(value)):
            return "number"
        case str():
            return "lines" if _BREAK.search(value) or len(value) > _LONG // 2 else "text"
    return "json"


def _schema_field(name: str, part: Json, whole: JsonObject, *, is_required: bool) -> Field:
    schema, is_nullable = _resolved(part, whole)
    shape, options = _shape(schema, whole)
    title, hint = schema.get("title"), schema.get("description")
    return Field(
        name=name,
        shape=shape,
        label=title if isinstance(title, str) and title.strip() else name,
        hint=hint if isinstance(hint, str) else "",
        is_required=is_required,
        is_nullable=is_nullable,
        options=options,
        default=schema.get("default"),
        schema=part if isinstance(part, dict) else {},
    )


def _shape(schema: Mapping[str, Any], whole: JsonObject) -> tuple[Shape, tuple[Json, ...]]:
    options = _enumerated(schema)
    if options:
        return "one", options
    match schema.get("type"):
        case "string":
            return _text_shape(schema), ()
        case "boolean":
            return "yes-no", ()
        case "integer":
            return "integer", ()
        case "number":
            return "number", ()
        case "array":
            items, _ = _resolved(schema.get("items"), whole)
            many = _enumerated(items)
            return ("many", many) if many else ("json", ())
    return "json", ()


def _text_shape(schema: Mapping[str, Any]) -> Shape:
    if schema.get("format") == "date":
        return "date"
    longest, default = schema.get("maxLength"), schema.get("default")
    is_long = isinstance(longest, int) and longest > _LONG
    has_lines = isinstance(default, str) and ("\n" in default or len(default) > _LONG // 2)
    return "lines" if is_long or has_lines or schema.get("format") == "multiline" else "text"


def _enumerated(schema: Mapping[str, Any]) -> tuple[Json, ...]:
    options = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(options, list) or not 0 < len(options) <= _MOST_OPTIONS:
        return ()
    return tuple(options)


def _resolved(part: Json, whole: JsonObject) -> tuple[dict[str, Any], bool]:
    """Follow references inside the schema, and unwrap "or null"; also as pydantic writes them."""
    merged: dict[str, Any] = {}
    is_nullable = False
    for _ in range(8):  # a reference may lead in a circle
        if not isinstance(part, dict):
            return merged, is_nullable
        merged = {**part, **{key: value for key, value in merged.items() if key not in _LINKS}}
        part, was_nullable = _inner(part, whole)
        is_nullable = is_nullable or was_nullable
        if part is None:
            break
    kinds = merged.get("type")
    if isinstance(kinds, list):
        others = [kind for kind in kinds if kind != "null"]
        is_nullable = is_nullable or "null" in kinds
        merged["type"] = others[0] if len(others) == 1 else ""
    return merged, is_nullable


_LINKS: Final = ("$ref", "anyOf", "oneOf", "allOf")


def _inner(part: Mapping[str, Any], whole: JsonObject) -> tuple[Json, bool]:
    """Give the one schema that this one only points to, and whether null is allowed beside it."""
    reference = _REFERENCE.fullmatch(str(part.get("$ref", "")))
    if reference is not None:
        return next(_definitions(whole, reference[1]), None), False
    for link in ("anyOf", "oneOf", "allOf"):
        parts = part.get(link)
        if isinstance(parts, list):
            others = [one for one in parts if one != {"type": "null"}]
            return (others[0] if len(others) == 1 else None), len(others) < len(parts)
    return None, False


def _definitions(whole: JsonObject, name: str) -> Iterator[Json]:
    for key in ("$defs", "definitions"):
        group = whole.get(key)
        if isinstance(group, dict) and name in group:
            yield group[name]
