"""One request for a page, after every check: who asks, for what, with what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aiohttp import web

from gateway.inbox.answers import Answer
from gateway.inbox.house import House
from gateway.inbox.visitor import Visitor
from storage.values import Scope

Values: TypeAlias = Mapping[str, Sequence[str]]
"""What a query or a form holds: each name may stand there more than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRequest:
    """What a page's function is given."""

    visitor: Visitor
    house: House
    """What all pages share: the gateway, the store, who sees what."""
    http: web.Request
    """For what is no page, such as a stream."""
    params: Mapping[str, str]
    """What stands in the path."""
    query: Values
    form: Values
    """Of a POST, after its origin and its token were checked."""

    def asked(self, name: str, default: str = "") -> str:
        """Give one value of the query."""
        return first(self.query, name, default)

    def posted(self, name: str, default: str = "") -> str:
        """Give one value of the form."""
        return first(self.form, name, default)

    async def still_valid(self) -> bool:
        """Tell whether the visitor is still signed in, for whoever stays connected."""
        return await self.house.reception.is_still(self.visitor, self.http)


def first(values: Values, name: str, default: str = "") -> str:
    """Give the first value of a name."""
    found = values.get(name)
    return found[0] if found else default


Run: TypeAlias = Callable[[InboxRequest], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    """One address of the inbox."""

    method: str
    """`GET` brings `HEAD` with it."""
    path: str
    """With names in braces: `/threads/{thread}`; `{rest:path}` takes slashes, too."""
    run: Run
    scope: Scope | None = None
    """What a visitor must be allowed; None: also those who have not signed in."""
    or_scope: Scope | None = None
    """What is enough as well, as in the API: who may answer may look at questions."""
    most: int = 1 << 20
    """How many bytes a form may have."""
    is_anonymous: bool = False
    """Who asks makes no difference, so nobody looks it up."""
    is_checked: bool = True
    """A POST needs our origin and token; only what browsers send by themselves goes without."""
