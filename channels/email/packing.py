"""What a token names, as few bytes: an address has little room. Pure.

An id of our own making is half a byte a digit, and what may follow it (`th_….12+3>0`: the event,
the copy for somebody else, the next address) a byte or two each. Any other id is its letters.
"""

from __future__ import annotations

import re
from typing import Final

from agent_core.errors import ParleyError
from channels.email.mail import Purpose

_MARKS: Final = ("+", "+a", ">", "!")
"""What a number at the end of a delivery's id counts: copies, those for who is absent, next
addresses, notices to operators. Only ever added to at the end: tokens live for years."""
_SUFFIX: Final = re.compile(r"(\+a?|>|!)(0|[1-9][0-9]{0,8})")
_OURS: Final = re.compile(
    rf"(q|th)_([0-9a-f]{{20,21}})(?:\.([1-9][0-9]{{0,8}})((?:{_SUFFIX.pattern}){{0,8}}))?"
)
_PURPOSES: Final[dict[Purpose, int]] = {"reply": 1, "bounce": 2}
_TAGS: Final = {("", 0): 0, ("q", 20): 1, ("th", 20): 2, ("q", 21): 3, ("th", 21): 4}
"""By what stands before the digits, and how many there are: older ids have one less."""
_LONGEST: Final = 24
"""Letters of an id that is not of our making: 56 characters of an address with its signature."""
_ID_BYTES: Final = 11
_SEVEN_BITS: Final = 7


class TokenTooLong(ParleyError):
    """An id was chosen that does not fit into an address; name its thread or delivery instead."""


def packed(reference: str, purpose: Purpose) -> bytes:
    """Put purpose and reference into at most 25 bytes, or raise TokenTooLong."""
    found = _OURS.fullmatch(reference)
    if found is None:
        plain = reference.encode("utf-8", "replace")
        if not plain or len(plain) > _LONGEST:
            raise TokenTooLong(f"{reference!r} does not fit into an address: {_LONGEST} bytes do")
        return _head(purpose, ("", 0)) + plain
    prefix, digits, seq, suffix, *_ = found.groups(default="")
    numbers = [int(seq)] if seq else []
    numbers += [
        int(number) * len(_MARKS) + _MARKS.index(mark) for mark, number in _SUFFIX.findall(suffix)
    ]
    body = _head(purpose, (prefix, len(digits))) + bytes.fromhex(digits.zfill(_ID_BYTES * 2))
    body += b"".join(map(_varint, numbers))
    if len(body) > _LONGEST + 1:
        raise TokenTooLong(f"{reference!r} does not fit into an address")
    return body


def unpacked(body: bytes) -> tuple[Purpose, str] | None:
    """Give back purpose and reference; nothing where the bytes mean nothing."""
    purpose = next((name for name, number in _PURPOSES.items() if number == body[0] >> 4), None)
    tag = next((name for name, number in _TAGS.items() if number == body[0] & 15), None)
    if purpose is None or tag is None:
        return None
    prefix, digits = tag
    if not prefix:
        return purpose, body[1:].decode("utf-8", "replace")
    name = body[1 : _ID_BYTES + 1].hex()[-digits:]
    first, *rest = _numbers(body[_ID_BYTES + 1 :]) or [0]
    marked = (divmod(one, len(_MARKS)) for one in rest)
    ends = "".join(f"{_MARKS[mark]}{number}" for number, mark in marked)
    return purpose, f"{prefix}_{name}" + (f".{first}{ends}" if first else "")


def _head(purpose: Purpose, tag: tuple[str, int]) -> bytes:
    return bytes([_PURPOSES[purpose] << 4 | _TAGS[tag]])


def _varint(number: int) -> bytes:
    """Write a number in as many bytes as it needs, all but the last with the high bit set."""
    low, rest = number & 0x7F, number >> _SEVEN_BITS
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _numbers(data: bytes) -> list[int]:
    found, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += _SEVEN_BITS
        if byte < 0x80:  # noqa: PLR2004 (the high bit says that more follows)
            found.append(number)
            number = shift = 0
    return found
