"""Markup without its tags, for bodies that no parser will have: no structure, and no step back."""

from __future__ import annotations

import html
import re
from typing import Final

# A tag ends at the next bracket of either kind: "<" without end can't make each search a long one.
_BREAKS: Final = re.compile(
    r"<\s?/?(?:br|p|div|tr|li|h[1-6]|blockquote|table)\b[^<>]*>", re.IGNORECASE
)
_TAGS: Final = re.compile(r"<[^<>]*>")
_SPACES: Final = re.compile(r"\n{3,}")


def plainly(markup: str) -> str:
    """Take the tags out; those that end a line become the end of a line."""
    return html.unescape(_SPACES.sub("\n\n", _TAGS.sub("", _BREAKS.sub("\n", markup))))
