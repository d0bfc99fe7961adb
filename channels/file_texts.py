"""Files as text: which media types are text, and what bytes say. Pure."""

from __future__ import annotations

import codecs
from typing import Final

MOST_LETTERS: Final = 100_000
_TEXT_TYPES: Final = frozenset(
    f"application/{name}"
    for name in (
        *("ecmascript", "graphql", "javascript", "json", "sql", "toml", "typescript", "xml"),
        *("x-httpd-php", "x-ndjson", "x-perl", "x-python", "x-sh", "x-yaml", "yaml"),
    )
)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def is_text_type(media_type: str) -> bool:
    """Tell whether what has this media type can be given to an agent as text."""
    plain = media_type.partition(";")[0].strip().lower()
    return (
        plain.startswith(("text/", "message/"))
        or plain in _TEXT_TYPES
        or plain.endswith(("+json", "+xml"))
    )


def decoded(content: bytes) -> tuple[str, str]:
    """Give the text, and a note on what is odd about it; no text where it is none."""
    text, note = _decode(content)
    if "\0" in text:
        return "", "named only: it holds no text"
    if len(text) > MOST_LETTERS:
        note = f"only the first {MOST_LETTERS:,} of {len(text):,} characters"
    return text[:MOST_LETTERS], note


def _decode(content: bytes) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, errors="replace"), ""
    try:
        return content.decode(), ""
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace"), "not UTF-8: read as Windows-1252"
