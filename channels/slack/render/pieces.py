"""A long text as several messages, none over Slack's limit, none cut where it hurts.

A fence that must be cut is closed and opened again with its language, a table's head stands on
each part, and words, links and code spans stay whole, unless one alone is longer than a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from channels.slack.render.limits import MARKDOWN
from channels.slack.render.passages import Fence, Words, passages

MOST_PIECES: Final = 20
"""A message a second and channel: more would fill a conversation for minutes."""
CUT_OFF: Final = "_… cut here: the rest stands in the thread's log._"

_ATOM: Final = re.compile(
    r"""
    \[ [^\[\]]{0,2000} \]                   # a link's label, its address (which may have
    \( [^()\s]{0,4000} (?:\([^()\s]{0,500}\)[^()\s]{0,500})? (?:\s[^()\n]{0,300})? \)  # a pair of
                                             # brackets in it) and its title
    | `[^`\n]{1,2000}`                       # a code span
    | &(?:amp|lt|gt);
    | <[^<>\s]{1,4000}>                      # a bare link
    | [^\s\[`&<]+                            # a word, or the rest of one
    | \s+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
CODE_OR_LINK: Final = re.compile(
    r"`[^`\n]{1,2000}`|\[(?P<label>[^\[\]\n<>]{0,2000})\]\((?P<url>https?://[^()\s<>|]{1,2000})\)"
)
"""In escaped Markdown: a code span, or a link with its parts."""
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt);|.", re.DOTALL)


def pieces(text: str, limit: int = MARKDOWN) -> list[str]:
    """Cut Markdown into messages' worth of Slack's Markdown; nothing gives no piece."""
    cut = _pieces(text, limit - len(CUT_OFF) - 2)
    found = list(islice(cut, MOST_PIECES))
    if next(cut, None) is not None:
        found[-1] += f"\n\n{CUT_OFF}"
    return found


def first_piece(text: str, limit: int) -> str:
    """Give as much of it as one part of a message can hold."""
    cut = _pieces(text, limit - 2)
    first = next(cut, "")
    return first if next(cut, None) is None else f"{first}\n…"


def whole_lines(text: str, limit: int) -> Iterator[str]:
    """Cut text of any kind at the ends of its lines, where that is possible."""
    return _words_parts(text, limit)


def _pieces(text: str, limit: int) -> Iterator[str]:
    parts = (part for passage in passages(text) for part in _parts(passage, limit))
    return _packed(parts, limit)


def _packed(parts: Iterable[str], limit: int) -> Iterator[str]:
    """Put as many parts into one message as fit."""
    piece = ""
    for part in parts:
        if not piece:
            piece = part
        elif len(piece) + 2 + len(part) <= limit:
            piece += "\n\n" + part
        else:
            yield piece
            piece = part
    if piece:
        yield piece


def _parts(passage: Words | Fence, limit: int) -> Iterator[str]:
    if isinstance(passage, Words):
        return _words_parts(passage.text, limit)
    return _fence_parts(passage, limit)


# --- words ----------------------------------------------------------------------------------------


def _words_parts(text: str, limit: int) -> Iterator[str]:
    if len(text) <= limit:
        yield text
        return
    for part in _filled(_units(text, limit), limit):
        if part.strip():
            yield part.strip("\n")


def _units(text: str, limit: int) -> Iterator[str]:
    """Lines, where they fit; else words with the space behind them."""
    line: list[str] = []
    for word in _spaced_words(text, limit):
        line.append(word)
        if word.endswith("\n"):
            yield from _whole_or_words(line, limit)
            line = []
    yield from _whole_or_words(line, limit)


def _whole_or_words(line: list[str], limit: int) -> list[str]:
    whole = "".join(line)
    return [whole] if len(whole) <= limit else line


def _spaced_words(text: str, limit: int) -> Iterator[str]:
    word: list[str] = []
    for match in _ATOM.finditer(text):
        word.append(match.group())
        if word[-1].isspace():
            yield from _whole("".join(word), limit)
            word = []
    yield from _whole("".join(word), limit)


def _whole(atom: str, limit: int) -> Iterator[str]:
    """Cut what is longer than a message by itself, though never inside an entity."""
    if len(atom) <= limit:
        yield atom
    else:
        yield from _filled((match.group() for match in _ENTITY.finditer(atom)), limit)


def _filled(atoms: Iterable[str], limit: int) -> Iterator[str]:
    parts: list[str] = []
    size = 0
    for atom in atoms:
        if size + len(atom) > limit and parts:
            yield "".join(parts)
            parts, size = [], 0
        parts.append(atom)
        size += len(atom)
    if size:
        yield "".join(parts)


# --- code -----------------------------------------------------------------------------------------


def _fence_parts(fence: Fence, limit: int) -> Iterator[str]:
    opening, closing = fence.ticks + fence.language, fence.ticks
    head = "".join(f"{line}\n" for line in fence.head)
    room = limit - len(opening) - len(closing) - 2 - len(head)
    if room < 1:  # the head, or a fence of backticks, is longer than a message
        yield from _words_parts("\n".join((*fence.head, *fence.lines)), limit)
        return
    lines = (part for line in fence.lines for part in _whole(f"{line}\n", room))
    for part in _filled(lines, room) if fence.lines else ["\n"]:
        body = part if part.endswith("\n") else f"{part}\n"
        yield f"{opening}\n{head}{body}{closing}"
