"""From a mail's text to the reply: which blocks stay, and which are only carried along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from channels.email.trimming.attributions import Sign, attribution
from channels.email.trimming.blocks import Block, Blocks
from channels.email.trimming.lines import is_blank, split, unquoted
from channels.email.trimming.signatures import without_signature

_SIGN_OFF: Final = 3
"""Text after the quote with no more lines than this is a farewell: it does not answer the quote."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person wrote."""

    text: str
    """With the quotes that they answer one by one."""
    words: str
    """Only their own lines, for reading an answer out of it."""


def trim(text: str, *, forwarded: bool = False) -> Reply:
    """Find the reply in a body of plain text."""
    return reply_of(split(text), forwarded=forwarded)


def reply_of(lines: list[str], *, forwarded: bool = False, structured: bool = False) -> Reply:
    """Find the reply in lines; those of HTML need no attribution, a program made their quotes."""
    blocks = _without_signatures(Blocks(lines, forwarded=forwarded).read())
    if not any(block.kind == "text" for block in blocks):
        return _only_quotes(blocks)
    while blocks[-1].kind != "text":
        blocks.pop()
    own = _joined([block.lines for block in blocks if block.kind == "text"])
    if _answers_the_quotes(blocks, structured=structured):
        return Reply(_joined(_in_context(blocks)), own)
    return Reply(own, own)


def _without_signatures(blocks: list[Block]) -> list[Block]:
    kept = []
    for block in blocks:
        if block.kind == "text":
            block.lines = without_signature(block.lines)
        if block.filled:
            kept.append(block)
    return kept


def _answers_the_quotes(blocks: list[Block], *, structured: bool) -> bool:
    """Tell whether the quotes that are left belong to what was written between them."""
    quotes = [place for place, block in enumerate(blocks) if block.kind == "quote"]
    if len(quotes) != 1:
        return bool(quotes)
    before, after = blocks[: quotes[0]], blocks[quotes[0] + 1 :]
    if not structured and not any(block.kind == "attribution" for block in before):
        return True
    if all(block.kind == "attribution" for block in before):
        return False
    return sum(block.filled for block in after) > _SIGN_OFF


def _in_context(blocks: list[Block]) -> list[list[str]]:
    """Keep everything but the attribution at the top: everybody knows whose mail is answered."""
    if blocks[0].kind == "attribution":
        blocks = blocks[1:]
    return [block.lines for block in blocks]


def _only_quotes(blocks: list[Block]) -> Reply:
    """Nobody wrote anything: a bare quote may be meant, an attributed one is not."""
    if not blocks or blocks[0].kind == "attribution":
        return Reply("", "")
    lines = [line for block in blocks for line in block.lines]
    bare = [unquoted(line) for line in lines[:5]]
    if any(attribution(bare, place)[0] is Sign.SURE for place in range(len(bare))):
        return Reply("", "")
    return Reply(_joined([lines]), "")


def _joined(pieces: list[list[str]]) -> str:
    """Put pieces together, with a blank line between two and none at the ends."""
    return "\n\n".join(filter(None, (_stripped(lines) for lines in pieces)))


def _stripped(lines: list[str]) -> str:
    start, end = 0, len(lines)
    while start < end and is_blank(lines[start]):
        start += 1
    while end > start and is_blank(lines[end - 1]):
        end -= 1
    return "\n".join(lines[start:end])
