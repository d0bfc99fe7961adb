"""Parameters of Content-Type and Content-Disposition, also in pieces and encodings (RFC 2231)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from channels.email.charsets import decode

_PARAMETER: Final = re.compile(
    r";[\s;]{0,200}([^\s=;\"*]{1,60})(\*\d{1,3})?(\*)?\s{0,20}=\s{0,20}"
    r"(?:\"((?:[^\"\\]|\\.){0,4000})\"?|([^;]{0,4000}))",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MOST: Final = 200


def parse_parameters(value: str) -> tuple[str, dict[str, str]]:
    """Give what stands before the first semicolon, in lower case, and the parameters."""
    first = value.partition(";")[0].strip().lower()
    whole: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, bool, str]]] = {}
    for count, found in enumerate(_PARAMETER.finditer(value)):
        if count >= _MOST:
            break
        name, plain = found[1].lower(), found[5]
        text = plain.strip() if plain is not None else _ESCAPE.sub(r"\1", found[4] or "")
        if found[2] or found[3]:
            number = int(found[2][1:]) if found[2] else 0
            pieces.setdefault(name, []).append((number, bool(found[3]), text))
        else:
            whole.setdefault(name, text)
    return first, whole | {name: _joined(sorted(some)) for name, some in pieces.items()}


def _joined(pieces: list[tuple[int, bool, str]]) -> str:
    """Put the pieces of a value together: the first encoded one names the charset."""
    charset = "utf-8"
    data = b""
    for place, (_, encoded, text) in enumerate(pieces):
        rest = text
        if encoded and place == 0 and text.count("'") > 1:
            charset, _, rest = text.split("'", 2)
        data += unquote_to_bytes(rest) if encoded else rest.encode("utf-8", "replace")
    return decode(data, charset)
