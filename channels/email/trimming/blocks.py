"""A body as blocks: what the person wrote, what they quote, and who is said to have written it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from channels.email.trimming.attributions import Sign, attribution, shared
from channels.email.trimming.header_blocks import header_block
from channels.email.trimming.lines import LONGEST_LINE, is_blank, is_quoted, next_filled
from channels.email.trimming.marks import Mark, is_rule, mark, says_original

Kind = Literal["text", "quote", "attribution"]

_LINK: Final = re.compile(r"[(<]https?://[^\s()<>]{1,500}[)>]\s{0,4}>?$")
_LINK_END: Final = re.compile(r"[^\s()<>]{1,300}[)>]\S{0,2}\s{0,4}>?$")

CUT: Final = "\ue000"
"""A line that the reader of HTML puts where it knows that the original begins."""


@dataclass(slots=True)
class Block:
    """Neighbouring lines of one kind."""

    kind: Kind
    lines: list[str] = field(default_factory=list)

    @property
    def filled(self) -> int:
        """How many lines have something on them."""
        return sum(1 for line in self.lines if not is_blank(line))


class Blocks:
    """Reads a body from top to bottom, once."""

    def __init__(self, lines: list[str], *, forwarded: bool = False) -> None:
        self._lines = lines
        self._next = next_filled(lines)
        self._forwarded = forwarded
        self._said = False
        self.blocks: list[Block] = []

    def read(self) -> list[Block]:
        """Give the blocks; what follows an original that nothing marks as a quote is left out."""
        place = 0
        while place < len(self._lines):
            taken = self._take(place)
            if taken == 0:
                break
            place += taken
        return self.blocks

    def _take(self, place: int) -> int:
        """Read what begins at a line, and give how many lines it takes; none at the reply's end."""
        line = self._lines[place]
        if is_blank(line):
            return self._add("text" if not self._in_quote(place) else "quote", place, 1)
        if is_quoted(line) or self._is_broken_link(place, line):
            return self._add("quote", place, 1)
        return self._take_plain(place, line)

    def _is_broken_link(self, place: int, line: str) -> bool:
        """A quoted line that was broken inside a link goes on without its mark."""
        if not self.blocks or self.blocks[-1].kind != "quote" or not self._quote_at(place + 1):
            return False
        return bool(_LINK.match(line)) or (bool(_LINK_END.match(line)) and self._has_open_link())

    def _has_open_link(self) -> bool:
        before = self.blocks[-1].lines[-1][-LONGEST_LINE:]
        return before.rfind("(http") > before.rfind(")") or before.rfind("<http") > before.rfind(
            ">", 2
        )

    def _take_plain(self, place: int, line: str) -> int:
        if line == CUT:
            return self._original(place, 1)
        match mark(line):
            case Mark.END:
                return 0 if self._said else 1
            case Mark.FORWARD:
                return self._add("text", place, len(self._lines) - place)
            case Mark.ORIGINAL:
                return self._original(place, 1 + self._headers_after(place + 1))
            case Mark.NONE:
                pass
        taken = header_block(self._lines, place)
        if not taken and says_original(line):
            above = self._next[place + 1]
            after = header_block(self._lines, above) if above < len(self._lines) else 0
            taken = above + after - place if after else 0
        if taken:
            return self._original(place, taken)
        return self._attributed(place, line)

    def _headers_after(self, place: int) -> int:
        """An original's own header block belongs to the line that announces it."""
        at = self._next[min(place, len(self._lines))]
        return (at - place) + header_block(self._lines, at) if at < len(self._lines) else 0

    def _attributed(self, place: int, line: str) -> int:
        if (at := shared(line)) > 0:
            self._put("text", [line[:at].rstrip(" \t-–—")])
            self._put("attribution", [line[at:]])
            return 1 if self._quote_at(place + 1) else 0
        how, taken = attribution(self._lines, place)
        quoted = self._quote_at(place + taken)
        if how is Sign.SURE and not quoted:
            return 0 if self._said else taken
        if how is not Sign.NO and quoted:
            return self._add("attribution", place, taken)
        return self._add("text", place, 1)

    def _original(self, place: int, taken: int) -> int:
        """End the reply here, unless a quote follows, or nothing has been said so far."""
        if self._forwarded:
            return self._add("text", place, len(self._lines) - place)
        if self._said:
            return self._add("attribution", place, taken) if self._quote_at(place + taken) else 0
        if self._lines[place] == CUT or mark(self._lines[place]) is Mark.ORIGINAL:
            return 1
        return self._add("text", place, taken)

    def _quote_at(self, place: int) -> bool:
        after = self._next[min(place, len(self._lines))]
        return after < len(self._lines) and is_quoted(self._lines[after])

    def _in_quote(self, place: int) -> bool:
        """A blank line between two quoted ones belongs to them."""
        return bool(self.blocks) and self.blocks[-1].kind == "quote" and self._quote_at(place)

    def _add(self, kind: Kind, place: int, taken: int) -> int:
        self._put(kind, self._lines[place : place + taken])
        return taken

    def _put(self, kind: Kind, lines: list[str]) -> None:
        lines = [line for line in lines if line != CUT]
        if kind == "text" and any(not is_blank(line) and not is_rule(line) for line in lines):
            self._said = True
        if self.blocks and self.blocks[-1].kind == kind:
            self.blocks[-1].lines.extend(lines)
        else:
            self.blocks.append(Block(kind, lines))
