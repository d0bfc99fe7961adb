"""Arguments as they were asked for, beside how somebody wants them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from agent_core.json_values import JsonObject
from channels.spelling import spelled

_MOST: Final = 2_000
"""Longer ones are shown whole and unmarked: finding what changed in them takes too long."""


class Piece(Struct, frozen=True, gc=False):
    """A part of a side, and whether the other side has it not."""

    text: str
    is_changed: bool = False


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One argument on both sides."""

    name: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    is_changed: bool


def side_by_side(before: JsonObject, after: JsonObject) -> tuple[Row, ...]:
    """Show every argument on both sides, in the order of asking; nothing is left out."""
    return tuple(_row(name, before, after) for name in dict.fromkeys((*before, *after)))


def _row(name: str, before: JsonObject, after: JsonObject) -> Row:
    old, new = _side(name, before), _side(name, after)
    if old == new:
        return Row(name=name, before=(Piece(old),), after=(Piece(new),), is_changed=False)
    if not old or not new or max(len(old), len(new)) > _MOST:
        return Row(name=name, before=_whole(old), after=_whole(new), is_changed=True)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return Row(
        name=name,
        before=tuple(_pieces(old, [(tag != "equal", a, b) for tag, a, b, _, _ in codes])),
        after=tuple(_pieces(new, [(tag != "equal", a, b) for tag, _, _, a, b in codes])),
        is_changed=True,
    )


def _side(name: str, arguments: JsonObject) -> str:
    """Spell a value as the card does, without its name in front."""
    if name not in arguments:
        return ""
    return spelled({"x": arguments[name]}).removeprefix("x:").removeprefix(" ")


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text, is_changed=True),) if text else ()


def _pieces(text: str, spans: list[tuple[bool, int, int]]) -> Iterator[Piece]:
    for is_changed, begin, end in spans:
        if begin < end:
            yield Piece(text[begin:end], is_changed)
