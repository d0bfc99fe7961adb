"""From an HTML body to the reply in it."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree
from lxml.html import HTMLParser, document_fromstring

from channels.email.markup.plainly import plainly
from channels.email.markup.walk import Walk
from channels.email.trimming.blocks import CUT
from channels.email.trimming.lines import is_quoted, split
from channels.email.trimming.trimmer import Reply, reply_of

_MOST_MARKUP: Final = 1_000_000
"""Markup beyond this is not looked at: a body of 100 KB of text seldom has a tenth of it."""

_DEEPEST: Final = 2_000
"""libxml2 stops at 2,048 and drops what is left; from here on the structure is not believed."""

_UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ue000-\ue00f]")
_DECLARED: Final = re.compile(r"^\s{0,64}<\?xml[^>]{0,200}\?>", re.IGNORECASE)


def trim_html(markup: str, *, forwarded: bool = False) -> Reply:
    """Find the reply in a body of HTML."""
    return reply_of(lines_of(markup), forwarded=forwarded, structured=True)


def lines_of(markup: str) -> list[str]:
    """Give a body's lines, with ">" before what its structure marks as quoted.

    A signature is left out, unless it is all that there is: then somebody wrote into it.
    """
    lines = _lines_of(markup, signatures=False)
    if any(line.strip() and not is_quoted(line) for line in lines) or "signature" not in markup:
        return lines
    return _lines_of(markup, signatures=True)


def _lines_of(markup: str, *, signatures: bool) -> list[str]:
    text = _DECLARED.sub("", _UNFIT.sub("", markup[:_MOST_MARKUP]))
    if not text.strip():
        return []
    try:
        parser = HTMLParser(
            recover=True, remove_comments=True, remove_pis=True, huge_tree=True, no_network=True
        )
        tree = document_fromstring(text, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return split(plainly(text))
    if _is_too_deep(tree):
        return split(plainly(text))
    return _clean(Walk(tree, signatures=signatures).lines())


def _clean(lines: list[str]) -> list[str]:
    """Clean lines as those of plain text are, without losing where the original begins."""
    clean: list[str] = []
    start = 0
    for place, line in enumerate([*lines, CUT]):
        if line == CUT:
            clean += split("\n".join(lines[start:place])) if place > start else []
            clean += [CUT] if place < len(lines) else []
            start = place + 1
    return clean


def _is_too_deep(tree: etree._Element) -> bool:
    depth = deepest = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest >= _DEEPEST
