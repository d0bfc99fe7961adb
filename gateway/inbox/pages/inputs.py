"""Fields of a form as inputs: what stands in them, and what is wrong with that. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from channels.form_fields import Field
from channels.form_inputs import initial, input_name, labels
from channels.posted_answers import Mistakes, Posted
from gateway.inbox.pages.texts import one_line

_TYPES: Final = {"integer": "decimal", "number": "decimal"}


class Option(Struct, frozen=True, gc=False):
    """One of several to choose from."""

    value: str
    label: str
    is_chosen: bool


class Input(Struct, frozen=True, kw_only=True, gc=False):
    """One input of a page."""

    name: str
    label: str
    kind: str
    """`text`, `date`, `area`, `radio` or `checkbox`."""
    hint: str = ""
    mode: str = ""
    """What a phone's keyboard should offer."""
    value: str = ""
    options: tuple[Option, ...] = ()
    is_required: bool = False
    problem: str = ""


def inputs(
    fields: Sequence[Field], posted: Posted | None, mistakes: Mistakes | None = None
) -> tuple[Input, ...]:
    """Give the inputs of a form, with what was typed before if something was."""
    wrong = mistakes.by_input if mistakes else {}
    return tuple(
        _input(
            one,
            input_name(at),
            initial(one) if posted is None else list(posted.get(input_name(at), ())),
            wrong.get(input_name(at), ""),
        )
        for at, one in enumerate(fields)
    )


def _input(field: Field, name: str, typed: Sequence[str], problem: str) -> Input:
    is_json = field.shape == "json"
    options = tuple(
        Option(str(at), one_line(label), str(at) in typed)
        for at, label in enumerate(labels(field) if _kind(field) in {"radio", "checkbox"} else ())
    )
    return Input(
        name=name,
        label=one_line(field.label or field.name),
        kind=_kind(field),
        hint=one_line(f"{field.hint} (as JSON)".strip() if is_json else field.hint, 500),
        mode=_TYPES.get(field.shape, ""),
        value=typed[0] if typed else "",
        options=options,
        is_required=field.is_required and not field.is_nullable,
        problem=problem,
    )


def _kind(field: Field) -> str:
    match field.shape:
        case "yes-no" | "one":
            return "radio"
        case "many":
            return "checkbox"
        case "lines" | "json":
            return "area"
        case "date":
            return "date"
    return "text"
