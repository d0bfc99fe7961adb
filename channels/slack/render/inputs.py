"""A field as an input of a Slack form, and back: what was typed, as the value it stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final, assert_never

import msgspec

from agent_core.json_values import Json, compact
from channels.form_fields import NUMBER, Field
from channels.slack.render import limits
from channels.slack.render.limits import Block, clean, plain

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_YES_NO: Final = (True, False)


class Missing:
    """Nothing was filled in."""


MISSING: Final = Missing()


class Mistake(ValueError):
    """What was typed is not such a value; the words tell the person what would be."""


def can_show(field: Field) -> bool:
    """Tell whether an input can hold the value that is there already."""
    return len(_initial_text(field)) <= limits.INPUT


def block_id(index: int) -> str:
    """Name the block of a field, and its element; by number: a name may be of any length."""
    return f"field-{index}"


def input_block(field: Field, index: int) -> Block:
    """Give a field as an input block."""
    hint = field.hint
    if field.shape == "json":
        hint = f"{hint} (as JSON)".strip()
    block = {
        "type": "input",
        "block_id": block_id(index),
        "label": plain(field.label, 200),
        "optional": not field.is_required or field.is_nullable or _may_be_empty(field),
        "element": {"action_id": block_id(index), **_element(field)},
    }
    return {**block, "hint": plain(hint, limits.HINT)} if hint.strip() else block


def read_input(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    """Give the value of an input, or Missing; a Mistake says what is wrong."""
    return _READ[field.shape](field, state)


def _may_be_empty(field: Field) -> bool:
    """An argument that is text may be made empty; Slack would insist on a letter."""
    return field.schema is None and field.shape in {"text", "lines"}


# --- out ------------------------------------------------------------------------------------------


def _element(field: Field) -> Block:
    match field.shape:
        case "text" | "lines" | "json":
            return _text_element(field)
        case "integer" | "number":
            return _number_element(field)
        case "yes-no":
            return _choice_element("radio_buttons", field, _YES_NO, ["Yes", "No"])
        case "one":
            return _choice_element("static_select", field, field.options, _labels(field))
        case "many":
            return _many_element(field)
        case "date":
            return _date_element(field)
        case never:
            assert_never(never)


def _initial_text(field: Field) -> str:
    if field.shape == "json":
        no_default = field.default is None and field.schema is not None
        return "" if no_default else json.dumps(field.default, ensure_ascii=False, indent=2)
    return field.default if isinstance(field.default, str) else ""


def _text_element(field: Field) -> Block:
    element: Block = {"type": "plain_text_input", "multiline": field.shape != "text"}
    schema = field.schema or {}
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    most = limits.INPUT
    if field.shape != "json":
        if isinstance(longest, int) and 0 < longest < limits.INPUT:
            element["max_length"] = most = longest
        if isinstance(shortest, int) and field.is_required and 0 < shortest <= most:
            element["min_length"] = shortest
    initial = _initial_text(field)
    if 0 < len(initial) <= most:
        element["initial_value"] = initial
    return element


def _number_element(field: Field) -> Block:
    element: Block = {"type": "number_input", "is_decimal_allowed": field.shape == "number"}
    schema = field.schema or {}
    bounds = {"min_value": schema.get("minimum"), "max_value": schema.get("maximum")}
    for key, bound in bounds.items():
        if _is_number(bound):
            element[key] = str(bound)
    low, high = bounds["min_value"], bounds["max_value"]
    if _is_number(field.default) and not (
        (_is_number(low) and field.default < low) or (_is_number(high) and field.default > high)
    ):
        element["initial_value"] = str(field.default)
    return element


def _choice_element(kind: str, field: Field, values: tuple[Json, ...], labels: list[str]) -> Block:
    options = _options(labels)
    element: Block = {"type": kind, "options": options}
    at = _index(values, field.default)
    if at is not None and (field.default is not None or None in values):
        element["initial_option"] = options[at]
    return element


def _many_element(field: Field) -> Block:
    options = _options(_labels(field))
    element: Block = {"type": "multi_static_select", "options": options}
    chosen = field.default if isinstance(field.default, list) else []
    found = dict.fromkeys(_index(field.options, value) for value in chosen)
    initial = [options[at] for at in found if at is not None]
    return {**element, "initial_options": initial} if initial else element


def _date_element(field: Field) -> Block:
    if isinstance(field.default, str) and _DATE.fullmatch(field.default):
        try:
            day = date.fromisoformat(field.default)
        except ValueError:
            return {"type": "datepicker"}
        return {"type": "datepicker", "initial_date": day.isoformat()}
    return {"type": "datepicker"}


def _options(labels: list[str]) -> list[Block]:
    return [
        {"text": plain(label, limits.OPTION), "value": str(at)} for at, label in enumerate(labels)
    ]


def _labels(field: Field) -> list[str]:
    return [value if isinstance(value, str) else compact(value) for value in field.options]


def _index(values: tuple[Json, ...], wanted: Json) -> int | None:
    """Find a value, where true is not 1."""
    for at, value in enumerate(values):
        if value == wanted and isinstance(value, bool) == isinstance(wanted, bool):
            return at
    return None


def _is_number(value: object) -> bool:
    is_kind = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_kind and NUMBER.fullmatch(str(value)) is not None


# --- in -------------------------------------------------------------------------------------------


def _read_text(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    text = state.get("value")
    if isinstance(text, str) and text:
        return text
    was_emptied = "value" in state and _may_be_empty(field)
    return "" if was_emptied else MISSING


def _read_json(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    text = state.get("value")
    if not isinstance(text, str) or not text.strip():
        return MISSING
    if text == _initial_text(field):
        return field.default
    try:
        return msgspec.json.decode(clean(text))
    except (msgspec.DecodeError, RecursionError) as exc:
        raise Mistake('Please write JSON, such as {"a": 1}, ["b"] or "text".') from exc


def _read_number(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    text = state.get("value")
    if not isinstance(text, str) or not text.strip():
        return MISSING
    text = text.strip()
    if text == str(field.default):
        return field.default
    if not NUMBER.fullmatch(text) or (field.shape == "integer" and "." in text):
        what = "a whole number" if field.shape == "integer" else "a number"
        raise Mistake(f"Please give {what}, such as {'20' if '.' not in text else '20.5'}.")
    return float(text) if "." in text else int(text)


def _read_yes_no(_field: Field, state: Mapping[str, Any]) -> Json | Missing:
    return _picked(_YES_NO, state.get("selected_option"))


def _read_one(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    return _picked(field.options, state.get("selected_option"))


def _read_many(field: Field, state: Mapping[str, Any]) -> Json | Missing:
    chosen = state.get("selected_options")
    if not isinstance(chosen, list) or not chosen:
        return [] if field.is_required else MISSING
    values = [_picked(field.options, option) for option in chosen]
    return [value for value in values if value is not MISSING]


def _read_date(_field: Field, state: Mapping[str, Any]) -> Json | Missing:
    day = state.get("selected_date")
    return day if isinstance(day, str) and day else MISSING


def _picked(values: tuple[Json, ...], option: object) -> Json | Missing:
    if not isinstance(option, Mapping):
        return MISSING
    number = str(option.get("value", ""))
    if not number.isascii() or not number.isdigit() or int(number) >= len(values):
        raise Mistake("Please choose one of the options.")
    return values[int(number)]


_READ: Final[dict[str, Callable[[Field, Mapping[str, Any]], Json | Missing]]] = {
    "text": _read_text,
    "lines": _read_text,
    "json": _read_json,
    "integer": _read_number,
    "number": _read_number,
    "yes-no": _read_yes_no,
    "one": _read_one,
    "many": _read_many,
    "date": _read_date,
}
