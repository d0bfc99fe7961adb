"""A call's arguments as people read them: one line each, nothing hidden, changes side by side.

What can't be seen (control characters, those that turn a line around) is written out, because
somebody approves what they read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from agent_core.json_values import Json, JsonObject

FOLD: Final = 1_500
"""So much of them stands on the card; the rest is a click away."""

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_UNWANTED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NAME: Final = re.compile(r"[\w.-]{1,80}")
_BARE: Final = re.compile(r"[^\s\"'{}\[\]|>#&*!-][^\n\t]*")
_JSON_WORDS: Final = re.compile(r"(?:true|false|null|[\d.+eE-]+)")
_SHORT: Final = 72


def spelled(arguments: JsonObject) -> str:
    """Write arguments for people: `name: value`, long and nested values on lines of their own."""
    return "\n".join(line for name, value in arguments.items() for line in _lines(name, value))


def folded(arguments: JsonObject) -> tuple[str, bool]:
    """Give the first part of them, and whether there is more."""
    text = spelled(arguments)
    return (text, False) if len(text) <= FOLD else (f"{text[:FOLD]}…", True)


def difference(before: JsonObject, after: JsonObject) -> str:
    """Show what was approved beside what was proposed, as a diff."""
    shown: list[str] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = _side(name, before), _side(name, after)
        if old == new:
            shown += [f"  {line}" for line in new]
        else:
            shown += [f"- {line}" for line in old] + [f"+ {line}" for line in new]
    return "\n".join(shown)


def visible(text: str) -> str:
    """Write out what can't be seen."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def tidy(text: str) -> str:
    """Take away what no text should hold: control characters, and those that turn lines round."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNWANTED.sub("", unix).encode("utf-8", "replace").decode().strip("\n")


def _side(name: str, arguments: JsonObject) -> list[str]:
    return list(_lines(name, arguments[name])) if name in arguments else []


def _lines(name: str, value: Json) -> Iterator[str]:
    label = name if _NAME.fullmatch(name) else json.dumps(visible(name), ensure_ascii=False)
    if isinstance(value, str) and "\n" in value.strip("\n"):
        yield f"{label}:"
        yield from _indented(value)
        return
    short = _short(value)
    if isinstance(value, str) or len(short) <= _SHORT:
        yield f"{label}: {short}"
        return
    yield f"{label}:"
    yield from _indented(json.dumps(value, ensure_ascii=False, indent=2))


def _short(value: Json) -> str:
    if isinstance(value, str) and _BARE.fullmatch(value) and not _JSON_WORDS.fullmatch(value):
        return visible(value)
    return visible(json.dumps(value, ensure_ascii=False))


def _indented(text: str) -> Iterator[str]:
    """Keep them right of the names, so that no value can pass for another argument."""
    return (f"  {visible(line)}" for line in text.split("\n"))
