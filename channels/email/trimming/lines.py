"""Lines as the trimmer sees them: cleaned of what can't be seen, and cut to a bounded size."""

from __future__ import annotations

from typing import Final

MOST_CHARACTERS: Final = 100_000
"""Of a body this much is looked at. The raw mail is kept, so that the rest is not lost."""

LONGEST_LINE: Final = 600
"""Of a line this much is matched: no line that a program writes around a reply is longer."""

_INVISIBLE: Final = dict.fromkeys(
    [0x1427, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0xFEFF, *range(0x2060, 0x206A)]
)
"""Marks of direction and width, and the sign that trackers leave (U+1427). Joiners stay: emoji and
Persian need them."""

_SPACES: Final = dict.fromkeys([0x00A0, 0x2007, 0x202F, 0x3000], " ")
_CONTROLS: Final = dict.fromkeys(
    [*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0), *range(0xE000, 0xE010)]
)
_TABLE: Final = {**_INVISIBLE, **_SPACES, **_CONTROLS}


def split(text: str) -> list[str]:
    """Give a body's lines, without what can't be seen and without white space at their ends."""
    whole = text[:MOST_CHARACTERS].replace("\r\n", "\n").replace("\r", "\n")
    return [line.rstrip() for line in whole.translate(_TABLE).split("\n")]


def head(line: str) -> str:
    """Give the part of a line that patterns may look at."""
    return line[:LONGEST_LINE]


def is_quoted(line: str) -> bool:
    """Tell whether a line is marked as somebody else's."""
    return line.lstrip(" \t").startswith(">")


def unquoted(line: str) -> str:
    """Take the marks off a quoted line."""
    return line.lstrip("> \t|")


def is_blank(line: str) -> bool:
    """Tell whether nothing stands on a line."""
    return not line.strip()


def next_filled(lines: list[str]) -> list[int]:
    """Give for each place where the next line with something on it is, from there on."""
    places = [len(lines)] * (len(lines) + 1)
    for place in range(len(lines) - 1, -1, -1):
        places[place] = places[place + 1] if is_blank(lines[place]) else place
    return places
