"""Matching: which route an address and a method mean, or which methods it would take. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from gateway.inbox.requests import PageRoute

_NAME: Final = re.compile(r"{([a-z_]+)(:path)?}")
_LONGEST: Final = 500


@dataclass(frozen=True, slots=True)
class Match:
    """What was found: the route, and what stands in its address."""

    route: PageRoute
    params: dict[str, str]


class Matcher:
    """Finds routes; the first that fits counts."""

    def __init__(self, routes: Sequence[PageRoute]) -> None:
        self._routes = [(_pattern(route.path), route) for route in routes]

    def find(self, method: str, raw_path: str) -> Match | None:
        """Find the route of a request; HEAD asks for what GET gives."""
        wanted = "GET" if method == "HEAD" else method
        for pattern, route in self._routes:
            found = pattern.fullmatch(raw_path)
            if found is not None and route.method == wanted:
                params = {
                    name: unquote(text)[:_LONGEST] for name, text in found.groupdict().items()
                }
                return Match(route, params)
        return None

    def methods(self, raw_path: str) -> list[str]:
        """Name the methods that an address takes."""
        found = {route.method for pattern, route in self._routes if pattern.fullmatch(raw_path)}
        return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _pattern(path: str) -> re.Pattern[str]:
    parts, end = [], 0
    for name in _NAME.finditer(path):
        taken = ".+" if name[2] else "[^/]+"
        parts += [re.escape(path[end : name.start()]), f"(?P<{name[1]}>{taken})"]
        end = name.end()
    return re.compile("".join(parts) + re.escape(path[end:]))
