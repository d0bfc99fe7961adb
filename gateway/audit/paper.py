"""The exported file: JSON lines, each with the hash of the one before, and a sealed last one.

Anybody can check the hashes: `hash` is the SHA-256 of the line up to the comma before it. Only who
has the key can check, or make, the `seal` of the last line, which covers them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from hmac import compare_digest
from typing import Any, NamedTuple

import msgspec

from agent_core.errors import ParleyError
from gateway.audit.entries import Entry
from storage.seals import Seal

NOTHING_BEFORE = "0" * 64
_HEAD = "head"
_TAIL = re.compile(rb'^(.*,"prev":"([0-9a-f]{64})"),"hash":"([0-9a-f]{64})"(?:,"seal":"(\w+)")?}$')
_parse = msgspec.json.Decoder().decode
_entry = msgspec.json.Decoder(Entry).decode


class Spoiled(ParleyError):
    """An exported file is not as it was written, or was not sealed with this key."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The last line: what the file holds, and of when."""

    at: str
    what: str = _HEAD
    begun: str
    """Since when changes can be seen."""
    thread: str = ""
    """The only thread that the file is about, if it is."""
    since: str = ""
    """Earlier entries were left out."""
    threads: int = 0
    lines: int = 0


class Paper:
    """Writes lines, one after the other."""

    def __init__(self) -> None:
        """Begin with nothing before."""
        self.lines = 0
        self._prev = NOTHING_BEFORE

    def line(self, entry: Entry) -> bytes:
        """Write an entry."""
        self.lines += 1
        return self._chained(entry) + b"}\n"

    def head(self, head: Head, seal: Seal) -> bytes:
        """Write the last line."""
        text = self._chained(head)
        return text + b',"seal":"' + _seal_of(seal, self._prev) + b'"}\n'

    def _chained(self, value: msgspec.Struct) -> bytes:
        text = msgspec.json.encode(value)[:-1] + f',"prev":"{self._prev}"'.encode()
        self._prev = sha256(text).hexdigest()
        return text + f',"hash":"{self._prev}"'.encode()


class _Line(NamedTuple):
    number: int
    text: bytes
    prev: str
    hash: str
    seal: bytes


def read_paper(lines: Iterable[bytes], seal: Seal) -> Iterator[Entry]:
    """Give the entries of a file; raises Spoiled at the first line that is not as it was."""
    prev, head, number = NOTHING_BEFORE, None, 0
    for number, raw in enumerate(lines, start=1):
        line = _read_line(number, raw)
        if head is not None:
            raise Spoiled(f"line {number} comes after the end")
        if line.prev != prev or sha256(line.text).hexdigest() != line.hash:
            raise Spoiled(f"line {number} was changed, or one before it is missing")
        prev = line.hash
        if line.seal:
            head = _checked_head(line, seal)
        else:
            yield _as_entry(line)
    if head is None:
        raise Spoiled(f"the end is missing: the file was cut off after line {number}")


def _read_line(number: int, raw: bytes) -> _Line:
    found = _TAIL.match(raw.rstrip(b"\r\n"))
    if found is None:
        raise Spoiled(f"line {number} is no line of an audit")
    text, prev, digest, seal = found.groups()
    return _Line(number, text, prev.decode(), digest.decode(), seal or b"")


def _checked_head(line: _Line, seal: Seal) -> Head:
    if not compare_digest(line.seal, _seal_of(seal, line.hash)):
        raise Spoiled(f"line {line.number} was not sealed with this PARLEY_SECRET_KEY")
    head = msgspec.convert(_fields(line), Head, strict=False)
    if head.lines != line.number - 1:
        raise Spoiled(f"there should be {head.lines} lines before the end")
    return head


def _as_entry(line: _Line) -> Entry:
    try:
        return _entry(line.text + b"}")
    except msgspec.MsgspecError as exc:
        raise Spoiled(f"line {line.number} is no entry of an audit: {exc}") from exc


def _fields(line: _Line) -> dict[str, Any]:
    fields: dict[str, Any] = _parse(line.text + b"}")
    return fields


def _seal_of(seal: Seal, digest: str) -> bytes:
    return seal(f"export\0{digest}".encode()).hex().encode()
