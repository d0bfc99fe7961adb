"""A request and its answer as plain values, so that a channel needs no web server of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """What came over HTTP: the raw bytes, for signatures, and header names in lower case."""

    method: str
    path: str
    query: str = ""
    """As it stands after the question mark."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    remote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebResponse:
    """What goes back."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)


WebHandler: TypeAlias = Callable[[WebRequest], Awaitable[WebResponse]]
