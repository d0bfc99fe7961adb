"""A mail as a tree of parts: slices of its bytes, found by their boundaries, within the limits.

Ours and not the standard parser, which goes line by line through every attachment, and can be
bombed: 2 MB of empty parts cost it 27 seconds. Here a level of nesting is one search through the
bytes, and what is too much is refused when it is met.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from channels.email.charsets import decode
from channels.email.headers import Headers, parse_headers
from channels.email.limits import header_end
from channels.email.mail import Limits
from channels.email.parameters import parse_parameters

_LONGEST_BOUNDARY: Final = 200
_TYPE: Final = re.compile(r"[\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100}")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/=]+")


class TooMuch(Exception):
    """A mail has more of something than it may; the message says of what."""


@dataclass(slots=True, eq=False)
class Part:
    """A part: its headers, and the bytes that it holds."""

    headers: Headers
    body: bytes
    default: str = "text/plain"
    parts: list[Part] = field(default_factory=list)
    defect: str = ""
    type: str = field(init=False)
    parameters: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Read the type."""
        told, self.parameters = parse_parameters(self.headers.get("content-type"))
        # RFC 2045, 5.2: what can't be read as a type is plain text.
        self.type = told if _TYPE.fullmatch(told) else self.default

    @property
    def disposition(self) -> tuple[str, dict[str, str]]:
        """How it wants to be shown, and the parameters of that."""
        return parse_parameters(self.headers.get("content-disposition"))

    def content(self, most: int | None = None) -> bytes:
        """Decode what it holds; of a long one the beginning, if only that is wanted."""
        how = self.headers.get("content-transfer-encoding").strip().lower()
        data = self.body if most is None else self.body[: 4 * most]
        if how == "base64":
            return _base64(data)
        return binascii.a2b_qp(data) if how == "quoted-printable" else data

    def text(self, most: int) -> str:
        """Decode a text of so many bytes at the most."""
        return decode(self.content(most)[:most], self.parameters.get("charset", ""))


def parse_part(raw: bytes, limits: Limits) -> Part:
    """Parse a mail into its parts."""
    root = _part(raw, limits.header_bytes)
    waiting, boundaries = [(root, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        if not part.type.startswith("multipart/"):
            continue
        if depth >= limits.depth:
            raise TooMuch(f"parts more than {limits.depth} deep")
        pieces = _pieces(part, limits.boundaries - boundaries)
        if pieces is None:
            raise TooMuch(f"more than {limits.boundaries} boundaries")
        boundaries += len(pieces) + 1
        default = "message/rfc822" if part.type == "multipart/digest" else "text/plain"
        part.parts = [_part(piece, limits.header_bytes, default) for piece in pieces]
        waiting += [(inner, depth + 1) for inner in part.parts]
    return root


def _part(raw: bytes, most: int, default: str = "text/plain") -> Part:
    """Split headers and body; a part may have no headers, and then begins with the blank line."""
    if raw[:1] == b"\n" or raw[:2] == b"\r\n":
        return Part(Headers([]), raw[1 if raw[:1] == b"\n" else 2 :], default)
    end = header_end(raw, most)
    if end < 0:
        raise TooMuch(f"headers larger than {most:,} bytes")
    body = raw[end:]
    gap = len(body) - len(body.lstrip(b"\r\n")) if len(body) < _GAP else _gap(body)
    return Part(parse_headers(raw[:end]), body[gap:], default)


_GAP: Final = 4


def _gap(body: bytes) -> int:
    """Give how many bytes the blank line takes that ends the headers."""
    return next(
        len(gap)
        for gap in (b"\r\n\r\n", b"\n\r\n", b"\r\n\n", b"\n\n", b"\r\r", b"")
        if body.startswith(gap)
    )


def _pieces(part: Part, most: int) -> list[bytes] | None:
    """Cut a body at its boundary lines; nothing if there are too many."""
    boundary = part.parameters.get("boundary", "").rstrip()[:_LONGEST_BOUNDARY]
    if not boundary:
        part.defect = "a multipart without a boundary"
        return []
    line = re.compile(
        rb"(?:^|(?:\r\n|\n|\r))--"
        + re.escape(boundary.encode("utf-8", "surrogateescape"))
        + rb"(--)?[ \t]{0,100}(?=\r|\n|\Z)"
    )
    found: list[tuple[int, int]] = []
    for match in line.finditer(part.body):
        if len(found) >= most:
            return None
        found.append(match.span())
        if match[1]:
            break
    else:
        part.defect = "a multipart that does not end"
        found.append((len(part.body), len(part.body)))
    return [_trimmed(part.body[a[1] : b[0]]) for a, b in pairwise(found)]


def _trimmed(piece: bytes) -> bytes:
    """Take off the end of the boundary's line."""
    if piece.startswith(b"\r\n"):
        return piece[2:]
    return piece[1:] if piece[:1] in {b"\n", b"\r"} else piece


def _base64(data: bytes) -> bytes:
    """Decode what can be: signs that don't belong there are passed over (RFC 2045, 6.8)."""
    clean = _NOT_BASE64.sub(b"", data).partition(b"=")[0]
    clean = clean[: len(clean) - 1] if len(clean) % 4 == 1 else clean
    return binascii.a2b_base64(clean + b"=" * (-len(clean) % 4))
