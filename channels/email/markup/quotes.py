"""How mail programs name what they quote, sign and hide in HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import islice
from typing import Final

from lxml.etree import _Element as Element

from channels.email.trimming.marks import Mark, mark

_CONTAINERS: Final = re.compile(
    r"(?:^|\s)(?:x_|ecx)*(?:gmail_quote|gmail_quote_container|gmail_extra|protonmail_quote|"
    r"tutanota_quote|zmail_extra|yahoo_quoted|\w*yahoo_quoted|front-blockquote|quoted-message|"
    r"mail-quote-collapse|hey-quote|quoted_text)(?:\s|$)",
    re.IGNORECASE,
)
_CONTAINER_IDS: Final = re.compile(r"^(?:x_)*(?:\w{0,40}yahoo_quoted|quotedtext)", re.IGNORECASE)
_RESTS: Final = re.compile(
    r"^(?:x_)*(?:divrplyfwdmsg|appendonsend|olk_src_body_section|orignalmsg|originalmessage|"
    r"mail-editor-reference-message-container|replysplit|zwchr)",
    re.IGNORECASE,
)
_ATTRIBUTIONS: Final = re.compile(
    r"(?:^|\s)(?:x_)*(?:gmail_attr|moz-cite-prefix|headerlines_quote)(?:\s|$)", re.IGNORECASE
)
_SIGNATURES: Final = re.compile(
    r"(?:^|\s)(?:x_)*(?:gmail_signature|moz-signature|protonmail_signature_block|"
    r"ms-outlook-mobile-signature|ms-outlook-ios-signature|zmail_signature)(?:\s|$)",
    re.IGNORECASE,
)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|mso-hide\s*:\s*all", re.IGNORECASE)
_BORDER: Final = re.compile(
    r"border-top\s*:\s*(?:solid\s+#[0-9a-f]{6}|1(?:\.0)?p[tx]\s+solid)", re.IGNORECASE
)
_LEFT: Final = re.compile(r"border-left(?:-width|-style)?\s*:", re.IGNORECASE)
_DROPPED: Final = frozenset(
    {"script", "style", "head", "title", "noscript", "template", "object", "xml", "svg"}
)
_LOOKED_AT: Final = 40
"""How many elements are looked at to tell what the one around them is."""
_LABELS: Final = 3


class Role(Enum):
    """What an element is to the reply."""

    PLAIN = auto()
    DROPPED = auto()
    """Nothing of it is shown to anybody."""
    SIGNATURE = auto()
    ATTRIBUTION = auto()
    CITED = auto()
    """A quote, whatever stands before it."""
    BLOCKQUOTE = auto()
    """Indented: a quote, or the person's own; what is around it decides."""
    CONTAINER = auto()
    """Where a program puts attribution and quote; people write answers between the quotes in it."""
    REST = auto()
    """From here to the end it is the original."""


def role(element: Element) -> Role:
    """Tell what an element is, by its name, class, id and style."""
    tag, get = str(element.tag), element.attrib.get
    if not element.attrib and tag not in _DROPPED:
        return Role.BLOCKQUOTE if tag == "blockquote" else Role.PLAIN
    if tag in _DROPPED or _HIDDEN.search(_short(get("style"))):
        return Role.DROPPED
    named = _short(get("class"))
    if _SIGNATURES.search(named) or get("data-smartmail") == "gmail_signature":
        return Role.SIGNATURE
    if _RESTS.match(_short(get("id"))) or _is_outlooks(tag, element):
        return Role.REST
    if _ATTRIBUTIONS.search(named):
        return Role.ATTRIBUTION
    if tag == "blockquote":
        return _blockquote(element, named)
    return _container(element, named, _short(get("id")))


def _blockquote(element: Element, named: str) -> Role:
    get = element.attrib.get
    if get("type") == "cite" or get("cite") or "protonmail_quote" in named or "cite" in named:
        return Role.CITED
    # Gmail indents what its users indent with this class and a margin, and quotes with a border.
    if "gmail_quote" not in named and _LEFT.search(_short(get("style"))):
        return Role.CITED
    return Role.BLOCKQUOTE


def _container(element: Element, named: str, identity: str) -> Role:
    if not _CONTAINERS.search(named) and not _CONTAINER_IDS.match(identity):
        return Role.PLAIN
    return Role.PLAIN if _is_forward(element) else Role.CONTAINER


def _is_forward(element: Element) -> bool:
    """Gmail gives what is passed on the same class as what is answered."""
    return any(mark(text) is Mark.FORWARD for text in _texts(element))


def _is_outlooks(tag: str, element: Element) -> bool:
    """Outlook draws a line above the header block, in every language."""
    if tag != "div" or not _BORDER.search(_short(element.attrib.get("style"))):
        return False
    return sum(1 for text in _texts(element) if ":" in text or "：" in text) >= _LABELS


def _texts(element: Element) -> Iterator[str]:
    """Give the first texts in an element, after a bounded number of steps."""
    for inner in islice(element.iter(), _LOOKED_AT):
        yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _short(value: str | None) -> str:
    """Give so much of an attribute as may be matched."""
    return (value or "")[:400]
