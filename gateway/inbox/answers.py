"""What a page's function gives back, as values: a page to render, or where to go next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Page:
    """A template and what it shows."""

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    """To be set beside it; an empty value forgets one. See `cookies` for the names."""
    is_error: bool = False
    """It tells what went wrong, so nothing is asked for it that might go wrong again."""


@dataclass(frozen=True, slots=True)
class Redirect:
    """See another page: after a POST, so that a reload does nothing twice."""

    to: str
    """A path of ours, never an address from outside; or Slack's page for signing in."""
    notice: str = ""
    """What to tell on that page, once."""
    cookies: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = Page | Redirect | web.StreamResponse
"""A stream of events, or a file, is a response of aiohttp's own."""
