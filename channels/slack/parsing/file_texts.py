"""Which files are text, and what their bytes say. Pure."""

from __future__ import annotations

import codecs
from typing import Final

from channels.slack.parsing.fields import storable
from channels.slack.parsing.meanings import SharedFile

MOST_LETTERS: Final = 100_000
_TEXT_TYPES: Final = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/typescript",
        "application/x-httpd-php",
        "application/x-ndjson",
        "application/x-perl",
        "application/x-python",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
        "message/rfc822",
    }
)
_SLACKS_KINDS: Final = """
applescript bash boxnote c clojure coffeescript cpp csharp css csv d dart diff dockerfile email
erlang fortran fsharp go groovy handlebars haskell haxe html ini java javascript json jsx julia
kotlin latex lisp log lua markdown matlab ndjson objc ocaml pascal perl php pig post powershell
prolog puppet python r rst ruby rust sass scala scheme scss shell smalltalk sql svg swift text toml
tsv tsx typescript vb vbscript velocity verilog vtt xml yaml yml
"""
_TEXT_KINDS: Final = frozenset(_SLACKS_KINDS.split())
"""Slack's own names (`filetype`) for what is text: its media types are guesses."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def is_text(file: SharedFile) -> bool:
    """Say whether a file can be given to an agent as text."""
    media_type = file.media_type.partition(";")[0].strip().lower()
    return (
        media_type.startswith("text/")
        or media_type in _TEXT_TYPES
        or media_type.endswith(("+json", "+xml"))
        or file.kind.lower() in _TEXT_KINDS
    )


def decoded(content: bytes) -> tuple[str, str]:
    """Give the text, and a note on what is odd about it; no text where it is none."""
    text, note = _decode(content)
    if "\0" in text:
        return "", "named only: it holds no text"
    text = storable(text)
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
