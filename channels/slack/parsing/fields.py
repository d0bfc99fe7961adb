"""Reading a payload without trusting it: a missing or odd field is an empty value. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Payload: TypeAlias = Mapping[str, Any]
"""A JSON object. Below it is looked at as the `dict` that it is: that is quicker to ask."""

_NOTHING: Final[Payload] = {}


def text(payload: Payload, *path: str) -> str:
    """Give the text at a path, fit for any database; empty where there is none."""
    found: object = payload
    for name in path:
        if not isinstance(found, dict):
            return ""
        found = found.get(name)
    return storable(found) if isinstance(found, str) else ""


def part(payload: Payload, *path: str) -> Payload:
    """Give the object at a path; empty where there is none."""
    found: object = payload
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else _NOTHING


def parts(payload: Payload, name: str) -> list[Payload]:
    """Give the objects in a list; empty where there is none."""
    found = payload.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def number(payload: Payload, name: str) -> int:
    """Give a count; none below zero, and none that is not a whole number."""
    found = payload.get(name)
    return max(found, 0) if isinstance(found, int) and not isinstance(found, bool) else 0


def storable(words: str) -> str:
    """Drop what no database stores: NUL, and halves of surrogate pairs."""
    if "\0" in words:
        words = words.replace("\0", "")
    return words if words.isascii() else words.encode(errors="ignore").decode()
