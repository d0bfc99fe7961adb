"""A field as the inputs of any web page hold it, and back: what was typed, as its value. Pure.

How an input looks is each page's own business.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, assert_never

import msgspec

from agent_core.json_values import Json, compact
from channels.form_fields import DATE, NUMBER, Field
from channels.spelling import tidy

_YES_NO: Final = ("Yes", "No")


class Missing:
    """Nothing was filled in."""


MISSING: Final = Missing()


class Mistake(ValueError):
    """What was typed is not such a value; the words tell the person what would be."""


def input_name(at: int) -> str:
    """Name the input of a field; by number, for a name may be anything."""
    return f"field-{at}"


# --- out ------------------------------------------------------------------------------------------


def initial(field: Field) -> list[str]:
    """Give what an input holds before anybody has typed: positions, where one chooses."""
    match field.shape:
        case "json":
            has_none = field.default is None and field.schema is not None
            return [] if has_none else [json.dumps(field.default, ensure_ascii=False, indent=2)]
        case "yes-no":
            return [str(_options(field).index(field.default))] if _is_bool(field.default) else []
        case "one":
            return _positions(field, [] if field.default is None else [field.default])
        case "many":
            return _positions(field, field.default if isinstance(field.default, list) else [])
    return [] if field.default is None else [str(field.default)]


def _positions(field: Field, wanted: Sequence[Json]) -> list[str]:
    known = [compact(one) for one in field.options]
    return [str(known.index(compact(one))) for one in wanted if compact(one) in known]


def labels(field: Field) -> Sequence[str]:
    """Name what can be chosen, in order."""
    if field.shape == "yes-no":
        return _YES_NO
    return [one if isinstance(one, str) else compact(one) for one in field.options]


def _options(field: Field) -> tuple[Json, ...]:
    return (True, False) if field.shape == "yes-no" else field.options


def _is_bool(value: Json) -> bool:
    return isinstance(value, bool)


# --- in -------------------------------------------------------------------------------------------


def read_input(field: Field, values: Sequence[str]) -> Json | Missing:
    """Give the value of an input, or Missing; a Mistake says what is wrong."""
    match field.shape:
        case "yes-no" | "one":
            return _picked(field, values[0]) if values else MISSING
        case "many":
            if not values:
                return [] if field.is_required else MISSING
            return [_picked(field, one) for one in dict.fromkeys(values)]
    text = tidy(values[0]) if values else ""
    if not text.strip():
        return MISSING
    match field.shape:
        case "text" | "lines":
            return text
        case "json":
            return read_json(text)
        case "integer" | "number":
            return _number(text.strip(), is_whole=field.shape == "integer")
        case "date":
            if not DATE.fullmatch(text.strip()):
                raise Mistake("Please give a day, such as 2026-11-16.")
            return text.strip()
        case never:
            assert_never(never)


def read_json(text: str) -> Json:
    """Read what was typed as JSON."""
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as exc:
        raise Mistake('Please write JSON, such as {"a": 1}, ["b"] or "text".') from exc
    return value


def _number(text: str, *, is_whole: bool) -> Json:
    if not NUMBER.fullmatch(text) or not text.isascii() or (is_whole and "." in text):
        what = "a whole number, such as 20" if is_whole else "a number, such as 20.5"
        raise Mistake(f"Please give {what}.")
    return float(text) if "." in text else int(text)


def _picked(field: Field, text: str) -> Json:
    options = _options(field)
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) >= len(options):  # noqa: PLR2004 (no menu is longer)
        raise Mistake("Please choose one of the options.")
    return options[int(text)]
