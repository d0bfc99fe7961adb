"""A mail's blocks as plain text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from channels.email.blocks import Block, Code, Items, Line, Link, Quote, Small, Words
from channels.spelling import tidy


def render_text(blocks: Sequence[Block]) -> str:
    """Give the plain part of a mail, its lines ended by a bare newline."""
    return "\n\n".join(filter(None, map(_block, blocks))) + "\n"


def _block(block: Block) -> str:
    match block:
        case Words(markdown=text) | Line(text=text) | Small(text=text):
            return tidy(text)
        case Quote(text=text):
            return _set_off(text, "> ")
        case Code(text=text):
            return _set_off(text, "    ")
        case Items(items=items):
            return "\n".join(_item(number, *one) for number, one in enumerate(items, start=1))
        case Link(label=label, url=url):
            return f"{tidy(label)}:\n{url}"
        case never:
            assert_never(never)


def _set_off(text: str, mark: str) -> str:
    return "\n".join(f"{mark}{line}" for line in tidy(text).split("\n"))


def _item(number: int, name: str, description: str) -> str:
    first = f"  {number}. {' '.join(tidy(name).split())}"
    return f"{first}: {' '.join(tidy(description).split())}" if description.strip() else first
