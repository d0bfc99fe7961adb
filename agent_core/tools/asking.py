"""From the words of a tool's author, or of a model, to a Question; or why it can't be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from agent_core.errors import NotJson
from agent_core.json_values import JsonObject, plain_object, storable
from agent_core.thread.forms import check_schema
from agent_core.thread.questions import (
    ANY_ONE,
    NO_WAITING_RULES,
    YES_NO,
    CallKey,
    Kind,
    Option,
    Policy,
    Question,
    QuestionId,
    ResumeTo,
    Urgency,
    Waiting,
)

AskKind: TypeAlias = Literal["text", "yes/no", "yes_no", "choice", "approval", "form", "event"]
Options: TypeAlias = Iterable[str | Option | Mapping[str, str]] | Mapping[str, str]

_KINDS: dict[str, Kind] = {
    "text": "text",
    "yes/no": "choice",
    "yes_no": "choice",
    "choice": "choice",
    "approval": "approval",
    "form": "form",
    "event": "event",
}
_MOST_OPTIONS = 100
_MOST_KEY = 300


def build_question(
    *,
    key: QuestionId,
    call: CallKey,
    prompt: str,
    kind: str = "text",
    context: str = "",
    options: Options = (),
    schema: Mapping[str, object] | None = None,
    payload: Mapping[str, object] | None = None,
    event_key: str = "",
    to: str | Iterable[str] = (),
    urgency: Urgency = "normal",
    wait: bool = True,
    resume_to: ResumeTo = "next",
    handler: str = "",
    waiting: Waiting | None = None,
    policy: Policy | None = None,
) -> Question:
    """Make a question, or raise ValueError (or NotJson) in words that its author understands."""
    if kind not in _KINDS:
        raise ValueError(
            f"there is no kind of question {kind!r}; the kinds are {', '.join(_KINDS)}"
        )
    if not prompt.strip():
        raise ValueError("a question needs words")
    offered = YES_NO if kind in ("yes/no", "yes_no") else _options(options)
    _check_kind(kind, offered, schema)
    _check_key(kind, event_key)
    question = Question(
        id=key,
        kind=_KINDS[kind],
        prompt=prompt,
        call=call,
        context=context,
        options=offered,
        schema=_form_schema(schema) if kind == "form" else None,
        payload=None if payload is None else plain_object(dict(payload), "payload"),
        key=event_key,
        to=(to,) if isinstance(to, str) else tuple(to),
        urgency=urgency,
        wait=wait,
        resume_to=resume_to,
        handler=handler,
        waiting=waiting or NO_WAITING_RULES,
        policy=policy or ANY_ONE,
    )
    _check_policy(question)
    return _checked(question)


def _check_policy(question: Question) -> None:
    policy = question.policy
    if question.kind != "approval" and (policy.quorum > 1 or not policy.veto):
        raise ValueError(f"quorum and veto belong to an approval, not to kind {question.kind}")
    if policy != ANY_ONE and not question.to:
        raise ValueError("say who decides (to=…): without it only whoever began this is asked")


def _checked(question: Question) -> Question:
    """Read it back as a log would: what could not be read must not be written."""
    try:
        return msgspec.json.decode(storable(question, "question"), type=Question)
    except (msgspec.ValidationError, TypeError) as exc:
        raise ValueError(f"that can't be asked: {exc}") from exc


def _check_kind(kind: str, offered: tuple[Option, ...], schema: object) -> None:
    if kind == "choice" and not offered:
        raise ValueError("a choice needs options to choose from")
    if offered and _KINDS[kind] != "choice":
        raise ValueError(f"options belong to a choice, not to a question of kind {kind}")
    if kind == "form" and schema is None:
        raise ValueError("a form needs a JSON schema")
    if schema is not None and kind != "form":
        raise ValueError(f"a schema belongs to a form, not to a question of kind {kind}")


def _check_key(kind: str, key: str) -> None:
    """Hold a key to what the outside can send: one line, neither empty nor endless."""
    if not key:
        return
    if kind != "event":
        raise ValueError(f"a key belongs to an event, not to a question of kind {kind}")
    if len(key) > _MOST_KEY or " ".join(key.split()) != key:
        raise ValueError(
            f"an event's key is one line of up to {_MOST_KEY} characters, with single spaces at "
            f"the most, not {key[:_MOST_KEY]!r}"
        )


def _options(options: Options) -> tuple[Option, ...]:
    if isinstance(options, Mapping):
        options = [Option(name, description) for name, description in options.items()]
    made = tuple(_option(option) for option in options)
    names = [option.name for option in made]
    if len(set(names)) < len(names):
        raise ValueError(f"two options have the same name: {', '.join(sorted(names))}")
    if len(made) > _MOST_OPTIONS:
        raise ValueError(f"a choice has at most {_MOST_OPTIONS} options, not {len(made)}")
    return made


def _option(option: str | Option | Mapping[str, str]) -> Option:
    match option:
        case Option():
            made = option
        case str():
            made = Option(option)
        case {"name": str(name)}:
            made = Option(name, str(option.get("description", "")))
        case _:
            raise ValueError(f"an option is a name, or a name with a description, not {option!r}")
    if not made.name.strip():
        raise ValueError("an option needs a name")
    return made


def _form_schema(schema: Mapping[str, object] | None) -> JsonObject:
    try:
        plain_schema = plain_object(dict(schema or {}), "schema")
    except NotJson as exc:
        raise ValueError(str(exc)) from exc
    check_schema(plain_schema)
    return plain_schema
