"""An agent's Markdown taken apart: passages of words, fences of code, and tables.

A line at a time, so that the cost is the length of the text. Words and code leave here escaped;
tables leave as code in columns, because Slack's Markdown shows none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from channels.slack.render.escaping import prose, uncalled
from channels.slack.render.limits import clean

_FENCE: Final = re.compile(r"^ {0,3}(?P<ticks>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_RULE: Final = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_WIDEST_TABLE: Final = 110
"""A wider one would wrap in Slack: its rows are written below each other."""


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph, a list, a heading: escaped, without the empty lines around it."""

    text: str


@dataclass(frozen=True, slots=True)
class Fence:
    """Lines of code, and the language on the fence. `head` stands again on each part."""

    lines: tuple[str, ...]
    language: str = ""
    head: tuple[str, ...] = ()

    @property
    def ticks(self) -> str:
        """Give a fence that no line of the code can close."""
        lines = (*self.head, *self.lines)
        longest = max((len(run) for line in lines for run in _TICKS.findall(line)), default=0)
        return "`" * max(3, longest + 1)


_TICKS: Final = re.compile(r"`{3,}")


def passages(text: str) -> Iterator[Words | Fence]:
    """Take Markdown apart, in order."""
    lines = clean(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    paragraph: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        opening = _FENCE.match(line)
        if opening is None and not _is_table(lines, at):
            at += 1
            if line.strip():
                paragraph.append(line.rstrip("\t"))
                continue
        yield from _flushed(paragraph)
        if opening is not None:
            end = _fence_end(lines, at, opening["ticks"])
            yield Fence(_code(lines[at + 1 : end]), _language(opening["info"]))
            at = end + 1
        elif line.strip():
            end = _table_end(lines, at)
            yield _table(lines[at:end])
            at = end
    yield from _flushed(paragraph)


def _flushed(paragraph: list[str]) -> Iterator[Words]:
    if paragraph:
        yield Words(prose("\n".join(paragraph)))
        paragraph.clear()


# --- code -----------------------------------------------------------------------------------------


def _fence_end(lines: Sequence[str], start: int, ticks: str) -> int:
    """Find the line that closes the fence; one that is never closed goes to the end."""
    for at in range(start + 1, len(lines)):
        line = lines[at].strip()
        if len(line) >= len(ticks) and set(line) == {ticks[0]}:
            return at
    return len(lines)


def _code(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(uncalled(line) for line in lines)


def _language(info: str) -> str:
    """Take the first word, as far as it can be a language's name."""
    first = info.strip().partition(" ")[0]
    return re.sub(r"[^\w+#.-]", "", first)[:30]


# --- tables ---------------------------------------------------------------------------------------


def _is_table(lines: Sequence[str], at: int) -> bool:
    """A row of cells with a rule of dashes below it, of the same number of columns."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "-" not in lines[at + 1]:
        return False
    rule = lines[at + 1]
    return bool(_RULE.match(rule)) and len(_cells(lines[at])) == len(_cells(rule))


def _table_end(lines: Sequence[str], at: int) -> int:
    end = at + 2
    while end < len(lines) and "|" in lines[end] and lines[end].strip():
        end += 1
    return end


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|")
    cells = _CELL_END.split(bare)
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _table(lines: Sequence[str]) -> Words | Fence:
    header, rows = _cells(lines[0]), [_cells(line) for line in lines[2:]]
    widths = [max(map(len, column)) for column in zip_longest(header, *rows, fillvalue="")]
    if sum(widths) + 3 * len(widths) > _WIDEST_TABLE:
        return _listed(header, rows)
    ruled = ["-" * width for width in widths]
    head, *body = _code([_padded(row, widths) for row in [header, ruled, *rows]])
    return Fence(tuple(body[1:]), head=(head, body[0]))


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = zip_longest(row, widths, fillvalue="")
    return "  ".join(str(cell).ljust(int(width or 0)) for cell, width in cells).rstrip()


def _listed(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Words:
    lines = []
    for row in rows:
        named = zip_longest(header, row, fillvalue="")
        lines.append("- " + "; ".join(f"**{name}**: {cell}" for name, cell in named if cell))
    return Words(prose("\n".join(lines or [" | ".join(header)])))
