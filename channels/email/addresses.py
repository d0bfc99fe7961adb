"""Addresses in headers, read in one pass and without recursion.

Strict where it matters: From must be one address and nothing odd, because
`ceo@corp.com <evil@x.org>` is read differently by every program. Elsewhere what can be read is
taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from channels.email.encoded_words import one_line
from channels.email.mail import Address

_MAILBOX: Final = re.compile(
    r"[^\s<>()\[\],;:\"@\\\x00-\x1f\x7f]{1,64}@[^\s<>()\[\],;:\"@\\\x00-\x1f\x7f]{1,255}"
)
_DOMAIN: Final = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)*\.?")


@dataclass(slots=True)
class Parsed:
    """The addresses of a header, and what was odd about it."""

    addresses: list[Address] = field(default_factory=list)
    defects: list[str] = field(default_factory=list)


def parse_addresses(value: str, *, most: int = 1_000) -> Parsed:
    """Read a list of addresses."""
    parsed = Parsed()
    for piece in _split(value, parsed.defects):
        if len(parsed.addresses) >= most:
            parsed.defects.append("too many addresses")
            break
        _add(parsed, piece)
    return parsed


def _add(parsed: Parsed, piece: _Piece) -> None:
    words = piece.words.strip()
    if piece.angle is None and not words:
        return
    mailbox = _mailbox(words if piece.angle is None else piece.angle.strip())
    if piece.is_odd:
        parsed.defects.append("an address that is not well formed")
    if mailbox is None:
        parsed.defects.append("an address that can't be read")
        return
    if piece.angle is not None and piece.has_at and words.lower() != mailbox.lower():
        parsed.defects.append("two addresses in one place")
    name = "" if piece.angle is None else one_line(words)
    parsed.addresses.append(Address(email=mailbox, name=name[:200]))


def _mailbox(text: str) -> str | None:
    if not _MAILBOX.fullmatch(text):
        return None
    local, _, domain = text.rpartition("@")
    return f"{local}@{domain.rstrip('.').lower()}" if _DOMAIN.fullmatch(domain) else None


@dataclass(slots=True)
class _Piece:
    """What stands between two commas."""

    words: str
    angle: str | None
    """What stands in `<>`, if there is such a thing."""
    is_odd: bool
    has_at: bool
    """An at sign in the words, outside quotes: some programs take the words for the address."""


def _split(value: str, defects: list[str]) -> list[_Piece]:
    """Split at commas that are not quoted."""
    reader = _Reader()
    for char in value:
        reader.take(char)
    reader.finish()
    if reader.is_open:
        defects.append("a quote or comment that is not closed")
    return reader.found


class _Reader:
    """Takes one character after the other; what is open is a counter, not a call."""

    def __init__(self) -> None:
        self.found: list[_Piece] = []
        self._words: list[str] = []
        self._angle: list[str] | None = None
        self._closed = self._odd = self._at = self._quoted = self._escaped = False
        self._comments = 0

    @property
    def is_open(self) -> bool:
        """Whether the value ended too early."""
        return self._quoted or self._comments > 0

    def take(self, char: str) -> None:
        """Take a character."""
        if self._escaped:
            self._escaped = False
            if self._quoted:
                self._words.append(char)
        elif char == "\\" and (self._quoted or self._comments):
            self._escaped = True
        elif self._quoted:
            self._in_quotes(char)
        elif self._comments or char == "(":
            self._comments += {"(": 1, ")": -1}.get(char, 0)
        else:
            self._plain(char)

    def finish(self) -> None:
        """End the address that is being read."""
        angle = None if self._angle is None else "".join(self._angle)
        self._odd = self._odd or (angle is not None and not self._closed)
        self.found.append(_Piece("".join(self._words), angle, self._odd, self._at))
        self._words, self._angle = [], None
        self._closed = self._odd = self._at = False

    def _in_quotes(self, char: str) -> None:
        if char == '"':
            self._quoted = False
        else:
            self._words.append(char)

    def _plain(self, char: str) -> None:
        in_angle = self._angle is not None and not self._closed
        if char == '"' and not in_angle:
            self._quoted = True
        elif char == "<":
            self._odd = self._odd or self._angle is not None
            self._angle, self._closed = [], False
        elif char == ">":
            self._odd = self._odd or not in_angle
            self._closed = True
        elif char in ",;" and not in_angle:
            self.finish()
        elif char == ":" and not in_angle:
            self._words.clear()  # the name of a group: its members follow
            self._odd = True
        else:
            self._inside(char, in_angle=in_angle)

    def _inside(self, char: str, *, in_angle: bool) -> None:
        if in_angle and self._angle is not None:
            self._angle.append(char)
        else:
            self._odd = self._odd or (self._closed and not char.isspace())
            self._at = self._at or char == "@"
            self._words.append(char)
