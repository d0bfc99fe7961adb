"""What was posted from a question's page: the answer that it holds, or what to mend. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from agent_core.errors import NotJson
from agent_core.json_values import Json, JsonObject, canonical, plain
from channels.form_checks import NEEDED, unfit
from channels.form_fields import Field, schema_fields
from channels.form_inputs import Missing, Mistake, initial, input_name, read_input, read_json
from channels.outgoing import QuestionCard
from channels.proposals import agreed
from channels.spelling import tidy

Posted: TypeAlias = Mapping[str, Sequence[str]]
"""What a page posts, by the names of its inputs."""
SHOWN: Final = "shown"
"""The input that says which card was looked at."""
_MARKED: Final = "Please look at what is marked."
_BREAK: Final = re.compile(r"\r\n?")
_MOST_COMMENT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, in the form that its question's kind has."""

    value: Json
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What to mend: about the whole, and by the names of the inputs."""

    whole: str = ""
    by_input: Mapping[str, str] = field(default_factory=dict)


def card_digest(card: QuestionCard) -> str:
    """Name what a person sees when they decide; another tool or argument is another card."""
    options = [[option.name, option.description] for option in card.options]
    value = [card.id, card.kind, card.prompt, options, card.schema, card.tool, card.arguments]
    return hashlib.sha256(canonical(value)).hexdigest()[:16]


def form_fields(card: QuestionCard) -> tuple[Field, ...]:
    """Give what the form of this question asks; what no input can show is JSON text."""
    whole = Field(
        name="", label="Your answer", shape="json", is_required=True, is_whole=True, schema={}
    )
    return schema_fields(card.schema or {}) or (whole,)


def read_posted(card: QuestionCard, posted: Posted) -> Answer | Mistakes:
    """Give the answer, or what to mend."""
    try:
        read = _read(card, posted)
        if isinstance(read, Answer):
            plain(read.value)
    except Mistake as exc:
        return Mistakes(str(exc))
    except NotJson as exc:
        return Mistakes(f"This can't be kept: {exc.problem}.")
    return read


def _read(card: QuestionCard, posted: Posted) -> Answer | Mistakes:
    comment = tidy(_first(posted, "comment")).strip()[:_MOST_COMMENT]
    match card.kind:
        case "approval":
            return Answer(value=_decision(card, posted), comment=comment)
        case "choice":
            return Answer(value=_choice(card, _first(posted, "choice")), comment=comment)
        case "text":
            text = tidy(_first(posted, "text")).strip()
            return Answer(value=text) if text else Mistakes("Please answer in words.")
        case "form":
            return _form(card, posted)
        case "event":
            return Mistakes("There is nothing to do here: the agent goes on when it happens.")
        case never:
            assert_never(never)


def _first(posted: Posted, name: str) -> str:
    return next(iter(posted.get(name, ())), "")


def _decision(card: QuestionCard, posted: Posted) -> Json:
    match _first(posted, "decision"):
        case "approve":
            return {"approved": True}
        case "deny":
            return {"approved": False}
        case "edit":
            edited = read_json(tidy(_first(posted, "arguments")) or "null")
            if not isinstance(edited, dict):
                raise Mistake('Please write the arguments as an object: {"name": "value"}.')
            if canonical(edited) == canonical(card.arguments or {}):
                return {"approved": True}
            return {"approved": True, "arguments": edited}
        case name if (theirs := agreed(name, card)) is not None:
            return {"approved": True, "arguments": theirs}
    raise Mistake("Please use one of the buttons.")


def _choice(card: QuestionCard, number: str) -> str:
    if not (number.isascii() and number.isdigit() and len(number) < 6):  # noqa: PLR2004 (no list is longer)
        raise Mistake("Please choose one of the options.")
    if int(number) >= len(card.options):
        raise Mistake("Please choose one of the options.")
    return card.options[int(number)].name


# --- forms ----------------------------------------------------------------------------------------


def _form(card: QuestionCard, posted: Posted) -> Answer | Mistakes:
    fields = form_fields(card)
    read = _read_fields(fields, posted)
    if isinstance(read, Mistakes):
        return read
    value = read.get(0, {}) if fields[0].is_whole else _named(fields, read)
    if not isinstance(value, dict):
        return Mistakes('Please write an object: {"name": "value"}.')
    wrong = unfit(fields, value, card.schema or {})
    if wrong is None:
        return Answer(value=value)
    beside = {input_name(at): words for at, words in wrong.by_field.items()}
    return Mistakes(wrong.whole or _MARKED, beside)


def edited_arguments(fields: Sequence[Field], posted: Posted) -> JsonObject | Mistakes:
    """Give the arguments as somebody wants them; an input left alone gives the very value back."""
    read = _read_fields(fields, posted, keeps=True)
    if isinstance(read, Mistakes):
        return read
    missing = {
        input_name(at): NEEDED
        for at, one in enumerate(fields)
        if one.is_required and at not in read
    }
    if missing:
        return Mistakes(_MARKED, missing)
    return {one.name: read[at] for at, one in enumerate(fields) if at in read}


def _read_fields(
    fields: Sequence[Field], posted: Posted, *, keeps: bool = False
) -> dict[int, Json] | Mistakes:
    """Read every input by its number; what nobody filled in is left out."""
    read: dict[int, Json] = {}
    wrong: dict[str, str] = {}
    for at, one in enumerate(fields):
        typed = posted.get(input_name(at), ())
        if keeps and one.default is not None and _is_untouched(one, typed):
            if not one.is_offered:
                read[at] = one.default
            continue
        try:
            value = read_input(one, typed)
        except Mistake as exc:
            wrong[input_name(at)] = str(exc)
            continue
        if not isinstance(value, Missing):
            read[at] = value
    return Mistakes(_MARKED, wrong) if wrong else read


def _is_untouched(field: Field, typed: Sequence[str]) -> bool:
    """Tell whether an input is as it was shown; browsers end every line by CRLF."""
    return [_BREAK.sub("\n", one) for one in typed] == [
        _BREAK.sub("\n", one) for one in initial(field)
    ]


def _named(fields: Sequence[Field], read: Mapping[int, Json]) -> JsonObject:
    value = {one.name: read[at] for at, one in enumerate(fields) if at in read}
    for one in fields:
        if one.name not in value and one.is_required and one.is_nullable:
            value[one.name] = None
    return value
