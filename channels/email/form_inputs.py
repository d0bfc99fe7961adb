"""A field as an input of the page behind a link. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import assert_never

from channels.form_fields import Field
from channels.form_inputs import initial, input_name, labels
from channels.spelling import visible


def input_html(field: Field, at: int, typed: Sequence[str] | None, problem: str = "") -> str:
    """Give a field with its label, what is in it, and what is wrong with that."""
    name = input_name(at)
    values = initial(field) if typed is None else list(typed)
    hint = f"{field.hint} (as JSON)".strip() if field.shape == "json" else field.hint
    star = (
        "" if not field.is_required or field.is_nullable else ' <span class="dim">(needed)</span>'
    )
    told = f'<span class="hint">{_text(hint)}</span>' if hint.strip() else ""
    wrong = f'<span class="wrong" role="alert">{_text(problem)}</span>' if problem else ""
    if field.shape in {"yes-no", "one", "many"}:
        inner = _choices(field, name, values)
        return (
            f"<fieldset><legend>{_text(field.label)}{star}</legend>{told}{inner}{wrong}</fieldset>"
        )
    inner = _entry(field, name, values[0] if values else "")
    return f'<label for="{name}">{_text(field.label)}{star}</label>{told}{inner}{wrong}'


def _entry(field: Field, name: str, value: str) -> str:
    match field.shape:
        case "lines" | "json":
            return f'<textarea id="{name}" name="{name}" rows="5">\n{escape(value)}</textarea>'
        case "integer" | "number":
            kind = 'type="text" inputmode="decimal"'
        case "date":
            kind = 'type="date"'
        case "text" | "yes-no" | "one" | "many":
            kind = 'type="text"'
        case never:
            assert_never(never)
    return f'<input id="{name}" name="{name}" {kind} value="{escape(value)}">'


def _choices(field: Field, name: str, values: Sequence[str]) -> str:
    kind = "checkbox" if field.shape == "many" else "radio"
    return "".join(
        f'<label class="choice"><input type="{kind}" name="{name}" value="{at}"'
        f"{' checked' if str(at) in values else ''}> {_text(label)}</label>"
        for at, label in enumerate(labels(field))
    )


def _text(text: str) -> str:
    return escape(visible(" ".join(text.split())))
