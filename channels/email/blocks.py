"""What stands in a mail, before it is plain text and HTML: a list of these. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Words:
    """Markdown that an agent wrote."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of ours."""

    text: str
    is_strong: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """What somebody wrote, as they wrote it."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Letter for letter."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """Numbered, each with a name and perhaps a description."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A way to answer on a page."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Small:
    """What one need not read."""

    text: str


Block: TypeAlias = Words | Line | Quote | Code | Items | Link | Small
