"""What of a filled-in form does not fit its schema: beside each field, or as a whole. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from agent_core.errors import WrongShape
from agent_core.json_values import JsonObject
from agent_core.thread.forms import check_form
from channels.form_fields import Field

NEEDED: Final = "This is needed."
_PREFIX: Final = "The form isn't complete yet. "
_KEPT: Final = ("$defs", "definitions", "properties", "type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """What to mend: by the field's number; about the whole only where no field is to blame."""

    by_field: Mapping[int, str]
    whole: str = ""


def unfit(fields: Sequence[Field], value: JsonObject, schema: JsonObject) -> Unfit | None:
    """Ask the schema about each field alone, then about the whole; None if all of it fits."""
    found = {at: words for at, one in enumerate(fields) if (words := _alone(one, value, schema))}
    if found:
        return Unfit(by_field=found)
    whole = _problem(schema, value)
    return Unfit(by_field={}, whole=whole) if whole else None


def _alone(field: Field, value: JsonObject, schema: JsonObject) -> str:
    if field.is_whole:
        return ""
    if field.name not in value:
        return NEEDED if field.is_required else ""
    part: JsonObject = {key: schema[key] for key in _KEPT if key in schema}
    part["properties"] = {field.name: field.schema or {}}
    return _problem(part, {field.name: value[field.name]}).removeprefix(f"{field.name}: ")


def _problem(schema: JsonObject, value: JsonObject) -> str:
    try:
        check_form(schema, value)
    except WrongShape as exc:
        return str(exc).removeprefix(_PREFIX)
    return ""
