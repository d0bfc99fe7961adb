"""A form that came back: what it was opened for, and the answer that it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent_core.json_values import Json, JsonObject, canonical
from channels.form_checks import unfit
from channels.form_fields import Field
from channels.outgoing import QuestionCard
from channels.slack.render.inputs import Missing, Mistake, block_id, can_show, read_input
from channels.slack.render.limits import cut
from channels.slack.render.modals import PICK, WORDS, edit_fields, form_fields
from channels.slack.tokens import read_metadata

_MOST_WORDS: Final = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What a form was opened for; signed, so it can be relied on."""

    action: str
    """`deny-reason`, `edit`, `answer`, `fill`, `pick`, `show`, or `ask` (without a question)."""
    context: JsonObject
    """As it was given when the form was made."""
    question: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """An answer, in the form that its question's kind has."""

    value: Json
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What to mend, by block: goes back as `response_action: errors`."""

    errors: dict[str, str]


def read_opened(secret: bytes, view: Mapping[str, Any]) -> Opened:
    """Give what a form was opened for, or raise ForgedValue."""
    meta = read_metadata(secret, str(view.get("private_metadata", "")))
    return Opened(
        action=meta["action"],
        context=meta["context"],
        question=meta.get("question", ""),
        digest=meta.get("digest", ""),
    )


def read_state(view: Mapping[str, Any], card: QuestionCard, action: str) -> Filled | Mistakes:
    """Give the answer that a question's form holds, or what to mend in it."""
    return _READERS[action](view, card)


def read_words(view: Mapping[str, Any]) -> str:
    """Give what was typed into an input for words, as in `ask`."""
    text = _state(view, WORDS).get("value")
    return text.strip() if isinstance(text, str) else ""


def mistaken(view: Mapping[str, Any], words: str) -> Mistakes:
    """Show what the gateway says of the whole form, at its first input."""
    blocks = view.get("blocks") or []
    inputs = [block["block_id"] for block in blocks if block.get("type") == "input"]
    return Mistakes({inputs[0]: cut(words, _MOST_WORDS)} if inputs else {})


def _state(view: Mapping[str, Any], block: str) -> Mapping[str, Any]:
    values = (view.get("state") or {}).get("values") or {}
    state = (values.get(block) or {}).get(block)
    return state if isinstance(state, Mapping) else {}


# --- one for each action --------------------------------------------------------------------------


def _denied(view: Mapping[str, Any], _card: QuestionCard) -> Filled | Mistakes:
    return Filled(value={"approved": False}, comment=read_words(view))


def _answered(view: Mapping[str, Any], _card: QuestionCard) -> Filled | Mistakes:
    text = read_words(view)
    return Filled(value=text) if text else Mistakes({WORDS: "Please answer in words."})


def _picked(view: Mapping[str, Any], card: QuestionCard) -> Filled | Mistakes:
    option = _state(view, PICK).get("selected_option") or {}
    number = str(option.get("value", ""))
    if not (number.isascii() and number.isdigit() and int(number) < len(card.options)):
        return Mistakes({PICK: "Please choose one of the options."})
    return Filled(value=card.options[int(number)].name)


def _edited(view: Mapping[str, Any], card: QuestionCard) -> Filled | Mistakes:
    fields = edit_fields(card)
    read = _read_all(view, [field if can_show(field) else None for field in fields])
    if isinstance(read, Mistakes):
        return read
    before = card.arguments or {}
    after: Json = {field.name: read.get(at, field.default) for at, field in enumerate(fields)}
    if fields[0].is_whole:
        after = read.get(0, before)
    if not isinstance(after, dict):
        return Mistakes({block_id(0): "Please write an object with the arguments."})
    if _same(after, before):
        return Filled(value={"approved": True})
    return Filled(value={"approved": True, "arguments": after})


def _same(left: JsonObject, right: JsonObject) -> bool:
    """Compare as JSON: true is not 1, though Python says so."""
    return canonical(left) == canonical(right)


def _completed(view: Mapping[str, Any], card: QuestionCard) -> Filled | Mistakes:
    fields, schema = form_fields(card), card.schema or {}
    read = _read_all(view, fields)
    if isinstance(read, Mistakes):
        return read
    value = read.get(0, {}) if fields[0].is_whole else _named(fields, read)
    if not isinstance(value, dict):
        return Mistakes({block_id(0): 'Please write an object: {"name": "value"}.'})
    wrong = unfit(fields, value, schema)
    if wrong is None:
        return Filled(value=value)
    beside = wrong.by_field or {0: wrong.whole}
    return Mistakes({block_id(at): cut(words, _MOST_WORDS) for at, words in beside.items()})


def _named(fields: tuple[Field, ...], read: Mapping[int, Json]) -> JsonObject:
    value = {field.name: read[at] for at, field in enumerate(fields) if at in read}
    for field in fields:
        if field.name not in value and field.is_required and field.is_nullable:
            value[field.name] = None
    return value


def _read_all(
    view: Mapping[str, Any], fields: list[Field | None] | tuple[Field, ...]
) -> dict[int, Json] | Mistakes:
    read: dict[int, Json] = {}
    errors: dict[str, str] = {}
    for at, field in enumerate(fields):
        if field is None:
            continue
        try:
            value = read_input(field, _state(view, block_id(at)))
        except Mistake as exc:
            errors[block_id(at)] = str(exc)
            continue
        if not isinstance(value, Missing):
            read[at] = value
    return Mistakes(errors) if errors else read


_READERS: Final[dict[str, Callable[[Mapping[str, Any], QuestionCard], Filled | Mistakes]]] = {
    "deny-reason": _denied,
    "answer": _answered,
    "pick": _picked,
    "edit": _edited,
    "fill": _completed,
}
