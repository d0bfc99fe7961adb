"""Text on lines: what elements do to the flow, and ">" before what is quoted."""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = re.compile(r"[ \t\r\n\f\v]+")
_BLOCKS: Final = frozenset(
    {
        *("address", "article", "aside", "body", "center", "dd", "details", "dir", "div", "dl"),
        *("dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html"),
        *("legend", "li", "main", "menu", "nav", "section", "summary", "table", "tbody"),
        *("tfoot", "thead", "tr"),
    }
)
_PARAGRAPHS: Final = frozenset(
    {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "ul"}
)
_CELLS: Final = frozenset({"td", "th"})


class Layout:
    """Collects lines; every call costs what it adds."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._line: list[str] = []
        self._gap = False
        self.depth = 0
        """How many quotes are open."""
        self.size = 0
        """How many characters were written."""

    def text(self, text: str | None, *, kept: bool) -> None:
        """Write; white space is one space, unless it is to be kept."""
        if not text:
            return
        self.size += len(text)
        if kept:
            first, *rest = text.replace("\r\n", "\n").split("\n")
            self._line.append(first)
            for line in rest:
                self.break_line()
                self._line.append(line)
            return
        flowed = _SPACE.sub(" ", text)
        if not self._line or self._line[-1].endswith(" "):
            flowed = flowed.lstrip(" ")
        if flowed:
            self._line.append(flowed)

    def break_line(self) -> None:
        """End the line, also an empty one: what `<br>` does."""
        self._end("".join(self._line))

    def element(self, tag: str) -> None:
        """Begin or end an element: a block ends the line, a paragraph leaves a gap too."""
        if tag in _CELLS:
            self.text(" ", kept=False)
        elif tag in _BLOCKS or tag in _PARAGRAPHS:
            self._flush()
            self._gap = self._gap or tag in _PARAGRAPHS

    def item(self) -> None:
        """Begin an item of a list."""
        self._flush()
        self._line.append("- ")

    def line(self, line: str) -> None:
        """Put a line of its own."""
        self._flush()
        self.lines.append(line)

    def quote(self) -> None:
        """Open a quote."""
        self._flush()
        self.depth += 1

    def unquote(self) -> None:
        """Close a quote."""
        self._flush()
        self.depth -= 1
        self._gap = True

    def done(self) -> list[str]:
        """Give all lines."""
        self._flush()
        return self.lines

    def _flush(self) -> None:
        text = "".join(self._line)
        if (
            text.strip() or "\xa0" in text
        ):  # a no-break space alone is how editors write an empty line
            self._end(text)
        self._line.clear()

    def _end(self, text: str) -> None:
        before = "> " if self.depth else ""
        if self._gap and self.lines and self.lines[-1].strip("> ") and text.strip():
            self.lines.append(before.rstrip())
        self._gap = False
        self.lines.append((before + text).rstrip())
        self._line.clear()
