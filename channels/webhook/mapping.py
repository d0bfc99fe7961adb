"""From a verified request to what it means here: nothing, or words for an agent in some place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_core.json_values import Json
from channels.webhook.declaration import Source
from channels.webhook.templates import Template, Unmapped, holds

_MOST_KEY = 300
_MOST_NAME = 200
_MOST_AUDIENCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """What a payload means."""

    agent: str
    text: str
    thread_key: str
    """Empty: each delivery is a thread of its own."""
    requester: str
    audience: tuple[str, ...]


def map_payload(source: Source, payload: Json, headers: Mapping[str, str]) -> Mapped | None:
    """Give what to say where, or None where the source's condition does not hold.

    Raises Unmapped, with the field that could not be made.
    """
    variables = {"payload": payload, "headers": headers}
    if source.when is not None and not _condition(source.when, variables):
        return None
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
