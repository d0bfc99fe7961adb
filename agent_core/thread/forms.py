"""Forms by JSON schema: is the schema usable, and does an answer fit it?

Schemas may come from a model, so nothing is fetched for a `$ref`, and patterns run on an
engine whose time is linear in the text. The library is loaded with the first form: it takes 3 MB.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from agent_core.errors import WrongShape
from agent_core.json_values import JsonObject

if TYPE_CHECKING:
    import jsonschema_rs

_MOST_PROBLEMS = 5


def check_schema(schema: JsonObject) -> None:
    """Raise ValueError, in words, if no form can be made of this schema."""
    if schema.get("type", "object") != "object":
        raise ValueError(f"a form's schema describes an object, not {schema['type']!r}")
    try:
        _validator(schema)
    except ValueError as exc:
        raise ValueError(f"the form's schema is not usable: {_first_line(exc)}") from exc


def check_form(schema: JsonObject, value: JsonObject) -> None:
    """Raise WrongShape with what a person should change, if the answer doesn't fit."""
    try:
        validator = _validator(schema)
    except ValueError as exc:
        raise WrongShape(f"This form can't be filled in: {_first_line(exc)}") from exc
    problems = [
        f"{_where(error)}: {error.message}"
        for error in islice(validator.iter_errors(value), _MOST_PROBLEMS)
    ]
    if problems:
        raise WrongShape("The form isn't complete yet. " + "; ".join(problems))


def _validator(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs  # noqa: PLC0415 - see above

    return jsonschema_rs.Draft202012Validator(
        schema, offline=True, validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
    )


def _where(error: jsonschema_rs.ValidationError) -> str:
    return ".".join(str(part) for part in error.instance_path) or "the form"


def _first_line(exc: ValueError) -> str:
    return str(exc).partition("\n")[0]
