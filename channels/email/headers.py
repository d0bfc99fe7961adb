"""A mail's headers, split and unfolded by hand: none is parsed until somebody asks for it."""

from __future__ import annotations

import re
from typing import Final

from channels.email.charsets import decode
from channels.email.limits import header_end

_NAME: Final = re.compile(r"([!-9;-~]{1,200})[ \t]*:")
_END: Final = re.compile(rb"\r\n|\n|\r")


class Headers:
    """The header fields in their order; the topmost was added last."""

    def __init__(self, fields: list[tuple[str, str]], *, odd: int = 0) -> None:
        self.fields = fields
        self.odd = odd
        """How many lines were no header."""

    def all(self, name: str) -> list[str]:
        """Give every value under a name, topmost first."""
        wanted = name.lower()
        return [value for one, value in self.fields if one == wanted]

    def get(self, name: str) -> str:
        """Give the topmost value under a name, or nothing."""
        return next(iter(self.all(name)), "")

    def has(self, name: str) -> bool:
        """Tell whether there is such a header, also an empty one."""
        return bool(self.all(name))


def parse_headers(raw: bytes, *, most: int = 64_000) -> Headers:
    """Read the headers of a mail."""
    end = header_end(raw, most)
    lines = _END.split(raw[: most if end < 0 else end])
    if lines and lines[0].startswith((b"From ", b">From ")):
        lines = lines[1:]  # a mailbox file's own separator
    fields: list[tuple[str, list[str]]] = []
    odd = 0
    for line in lines:
        text = decode(line, "utf-8")
        if text[:1] in {" ", "\t"} and fields:
            fields[-1][1].append(text)
        elif found := _NAME.match(text):
            fields.append((found[1].lower(), [text[found.end() :]]))
        else:
            odd += bool(text.strip())
    return Headers([(name, "\n".join(values).strip()) for name, values in fields], odd=odd)
