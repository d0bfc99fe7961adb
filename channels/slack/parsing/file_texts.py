"""Which of Slack's files are text. Pure."""

from __future__ import annotations

from typing import Final

from channels.file_texts import is_text_type
from channels.slack.parsing.meanings import SharedFile

_SLACKS_KINDS: Final = """
applescript bash boxnote c clojure coffeescript cpp csharp css csv d dart diff dockerfile email
erlang fortran fsharp go groovy handlebars haskell haxe html ini java javascript json jsx julia
kotlin latex lisp log lua markdown matlab ndjson objc ocaml pascal perl php pig post powershell
prolog puppet python r rst ruby rust sass scala scheme scss shell smalltalk sql svg swift text toml
tsv tsx typescript vb vbscript velocity verilog vtt xml yaml yml
"""
_TEXT_KINDS: Final = frozenset(_SLACKS_KINDS.split())
"""Slack's own names (`filetype`) for what is text: its media types are guesses."""


def is_text(file: SharedFile) -> bool:
    """Say whether a file can be given to an agent as text."""
    return is_text_type(file.media_type) or file.kind.lower() in _TEXT_KINDS
