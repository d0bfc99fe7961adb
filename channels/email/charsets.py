"""Bytes to text, whatever their sender called their encoding. Never raises, never drops a byte."""

from __future__ import annotations

import codecs
from typing import Final

_CALLED: Final = {
    "": "utf-8",
    "ascii": "utf-8",
    "us-ascii": "utf-8",
    "utf8mb4": "utf-8",
    "unicode-1-1-utf-7": "utf-7",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "x-mac-roman": "mac-roman",
    "windows-874": "cp874",
    "x-unknown": "utf-8",
    "unknown-8bit": "utf-8",
    "default": "utf-8",
    "8bit": "utf-8",
    "binary": "utf-8",
}
"""Names that Python doesn't know, or knows too narrowly: mail called Latin-1 is mostly Windows'."""

_NO_CHARSETS: Final = frozenset(
    {
        "rot13",
        "idna",
        "punycode",
        "undefined",
        "unicode-escape",
        "raw-unicode-escape",
        "mbcs",
        "oem",
    }
)
"""Codecs of text to text, and of Python's own."""
_LONGEST_NAME: Final = 40


def decode(data: bytes, charset: str) -> str:
    """Decode; what can't be is tried as UTF-8, and then as what is never wrong."""
    for name in (_python_name(charset), "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeError, ValueError):
            continue
    return data.decode("cp1252", errors="replace")


def _python_name(charset: str) -> str:
    name = charset.strip().strip("\"'").lower()[:_LONGEST_NAME]
    name = _CALLED.get(name, name)
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return "utf-8"
    # Codecs from bytes to bytes live in the same table; one of them unpacks bombs.
    is_text = found._is_text_encoding and found.name.replace("_", "-") not in _NO_CHARSETS  # noqa: SLF001 - there is no public way to ask
    return name if is_text else "utf-8"
