"""Texts of others, as a terminal may have them: nothing in them can make it obey."""

from __future__ import annotations


def shown(text: str) -> str:
    """Leave out what a terminal would obey; lines stay lines."""
    return "".join(c for c in text.expandtabs(4) if c.isprintable() or c == "\n")


def one_line(text: str) -> str:
    """Put a text on one line."""
    return " ".join(shown(text).split())
