"""The walk through an HTML body: each element once, in order, without recursion."""

from __future__ import annotations

from itertools import islice
from typing import Final

from lxml import etree
from lxml.etree import _Element as Element

from channels.email.markup.layout import Layout
from channels.email.markup.quotes import Role, role
from channels.email.trimming.attributions import Sign, sign
from channels.email.trimming.blocks import CUT
from channels.email.trimming.lines import MOST_CHARACTERS

_ABOVE: Final = 4
"""How many lines above a block are looked at for an attribution."""
_LONGEST_LINK: Final = 500
_PIECES: Final = 20
_QUOTING: Final = frozenset({Role.CITED, Role.ATTRIBUTION})


def last_blockquote(tree: Element) -> Element | None:
    """Find the last blockquote that stands in no other."""
    last, depth = None, 0
    for event, element in etree.iterwalk(tree, events=("start", "end"), tag="blockquote"):
        if event == "start":
            last = element if depth == 0 else last
            depth += 1
        else:
            depth -= 1
    return last


class Walk:
    """Writes a tree down as lines."""

    def __init__(self, tree: Element, *, signatures: bool) -> None:
        self._tree = tree
        self._signatures = signatures
        self._last = last_blockquote(tree)
        self._out = Layout()
        self._open: list[Element] = []
        """The elements that have a quote open, the innermost last."""
        self._containers: list[Element] = []
        self._skipped: Element | None = None
        self._pre = 0

    def lines(self) -> list[str]:
        """Walk."""
        walker = etree.iterwalk(self._tree, events=("start", "end"))
        for event, element in walker:
            if self._out.size > MOST_CHARACTERS:
                break
            if event == "end":
                self._end(element)
            elif self._is_passed_over(what := role(element)):
                self._skipped = element
                walker.skip_subtree()
            else:
                self._start(element, what)
        return self._out.done()

    def _is_passed_over(self, what: Role) -> bool:
        return what is Role.DROPPED or (what is Role.SIGNATURE and not self._signatures)

    def _start(self, element: Element, what: Role) -> None:
        tag = str(element.tag)
        self._out.element(tag)
        if what is Role.REST and not self._open:
            self._out.line(CUT)
        if what is Role.CONTAINER:
            self._containers.append(element)
            self._quote(element)
        elif self._is_quote(element, what):
            self._leave_container()
            self._quote(element)
        self._flow(tag, element)

    def _is_quote(self, element: Element, what: Role) -> bool:
        if what is not Role.BLOCKQUOTE:
            return what in _QUOTING
        return bool(self._containers) or self._is_attributed() or self._closes_the_mail(element)

    def _quote(self, element: Element) -> None:
        self._open.append(element)
        self._out.quote()

    def _leave_container(self) -> None:
        """Only what stands before its first quote is the container's; the rest is the person's."""
        if self._open and self._containers and self._open[-1] is self._containers[-1]:
            self._open.pop()
            self._out.unquote()

    def _closes_the_mail(self, element: Element) -> bool:
        """The last one, with something before it and no class of Gmail's, is the original."""
        own = "gmail_quote" in (element.get("class") or "")
        return element is self._last and not own and any(line.strip() for line in self._out.lines)

    def _is_attributed(self) -> bool:
        above = [line for line in self._out.done()[-2 * _ABOVE :] if line.strip()][-_ABOVE:]
        joined = (" ".join(above[place:]) for place in range(len(above)))
        return any(sign(text) is not Sign.NO for text in joined)

    def _flow(self, tag: str, element: Element) -> None:
        if tag == "br":
            self._out.break_line()
        elif tag == "li":
            self._out.item()
        self._pre += tag == "pre"
        self._out.text(element.text, kept=self._pre > 0)

    def _end(self, element: Element) -> None:
        if element is self._skipped:
            self._skipped = None
        else:
            self._close(element, str(element.tag))
        self._out.text(element.tail, kept=self._pre > 0)

    def _close(self, element: Element, tag: str) -> None:
        if tag == "a" and not self._open:
            self._link(element)
        self._pre -= tag == "pre"
        self._out.element(tag)
        if self._open and self._open[-1] is element:
            self._open.pop()
            self._out.unquote()
        if self._containers and self._containers[-1] is element:
            self._containers.pop()

    def _link(self, element: Element) -> None:
        """Where a link leads is part of what a person says, unless they said it in full."""
        target = (element.get("href") or "").strip()[:_LONGEST_LINK]
        scheme, _, rest = target.partition("://")
        said = "".join(str(piece) for piece in islice(element.itertext(), _PIECES)).strip()
        if scheme.lower() in {"http", "https"} and rest.rstrip("/") not in said:
            self._out.text(f" <{target}>", kept=False)
