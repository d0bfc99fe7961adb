"""From a verified request to what it means here: nothing, words for an agent, or an event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from agent_core.errors import NotJson
from agent_core.json_values import Json, JsonObject, canonical, plain
from channels.webhook.declaration import Source
from channels.webhook.templates import Template, Unmapped, holds

_MOST_KEY = 300
_MOST_NAME = 200
_MOST_AUDIENCE = 50
_MOST_VALUE = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """What a payload means."""

    agent: str
    text: str
    thread_key: str
    """Empty: each delivery is a thread of its own."""
    requester: str
    audience: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What a payload reports: an event that somebody may wait for."""

    key: str
    value: JsonObject


def map_payload(
    source: Source, payload: Json, headers: Mapping[str, str]
) -> Mapped | Happened | None:
    """Give what to say where, or what happened; None where the source wants nothing of it.

    Raises Unmapped, with the field that could not be made.
    """
    variables = {"payload": payload, "headers": headers}
    if source.when is not None and not _condition(source.when, variables):
        return None
    key = _line("event_key", source.event_key, variables, _MOST_KEY)
    if key:
        return Happened(key=key, value=_value(source, payload, variables))
    if not source.message.source:
        return None
    return _words(source, variables)


def _words(source: Source, variables: Mapping[str, Any]) -> Mapped:
    text = _rendered("message", source.message, variables, None)
    if not text.strip():
        raise Unmapped("message: it is empty")
    return Mapped(
        agent=_line("agent", source.agent, variables, _MOST_NAME),
        text=text,
        thread_key=_line("thread_key", source.thread_key, variables, _MOST_KEY),
        requester=_line("requester", source.requester, variables, _MOST_NAME),
        audience=tuple(dict.fromkeys(_audience(source, variables))),
    )


def _value(source: Source, payload: Json, variables: Mapping[str, Any]) -> JsonObject:
    """Give what who waits gets: an object; what is none is put into one."""
    try:
        value = plain(_chosen(source, payload, variables), "it")
        size = len(canonical(value))
    except NotJson as exc:
        raise Unmapped(f"event_value: {exc}") from exc
    if size > _MOST_VALUE:
        raise Unmapped(f"event_value: it has more than {_MOST_VALUE:,} bytes")
    return value if isinstance(value, dict) else {"value": value}


def _chosen(source: Source, payload: Json, variables: Mapping[str, Any]) -> object:
    if source.event_value is None:
        return payload
    text = _rendered("event_value", source.event_value, variables, _MOST_VALUE)
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as exc:
        raise Unmapped(f"event_value: it is not JSON: {exc}") from exc


def _condition(when: Template, variables: Mapping[str, Any]) -> bool:
    try:
        return holds(when, variables)
    except Unmapped as exc:
        raise Unmapped(f"when: {exc}") from exc


def _audience(source: Source, variables: Mapping[str, Any]) -> Iterator[str]:
    for template in source.audience:
        most = _MOST_NAME * _MOST_AUDIENCE
        names = _line("audience", template, variables, most).split(",")
        if len(names) > _MOST_AUDIENCE:
            raise Unmapped(f"audience: it names more than {_MOST_AUDIENCE}")
        yield from (name.strip() for name in names if name.strip())


def _line(field: str, template: Template, variables: Mapping[str, Any], most: int) -> str:
    """Render a name: one line, however the template was laid out."""
    if not template.source:
        return ""
    return " ".join(_rendered(field, template, variables, most).split())


def _rendered(
    field: str, template: Template, variables: Mapping[str, Any], most: int | None
) -> str:
    try:
        return template.render(variables) if most is None else template.render(variables, most=most)
    except Unmapped as exc:
        raise Unmapped(f"{field}: {exc}") from exc
