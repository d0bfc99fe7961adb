"""The form in which every event is told, before it has its time and place. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from channels.spelling import spelled
from gateway.inbox.pages.entries import Block, Tone
from gateway.inbox.pages.texts import code, exact, prose


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One event, before it has its time and place."""

    tone: Tone
    who: str
    what: str
    by: str = ""
    note: str = ""
    question: str = ""
    blocks: Sequence[Block] = ()


def words(text: str, label: str = "") -> list[Block]:
    """Show words, if there are any."""
    return [Block(text=prose(text), label=label)] if text.strip() else []


def json_value(value: Any, label: str = "") -> list[Block]:  # noqa: ANN401 (any JSON)
    """Show a value."""
    return [Block(text=code(value), label=label, is_code=True)]


def argument_lines(arguments: Mapping[str, Any], label: str) -> Block:
    """Show arguments, a line each."""
    return Block(text=exact(spelled(dict(arguments))), label=label, is_code=True)
