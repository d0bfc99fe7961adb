"""The inbox on the server: which addresses are its own. The rest is loaded with the first page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from aiohttp import web

from gateway.http.endpoints import leave_expectations
from gateway.http.framing import ENTRY, LOST

if TYPE_CHECKING:
    from gateway.inbox.site import Site

AREAS: Final = (
    "/",
    "/threads{rest:(/.*)?}",
    "/questions{rest:(/.*)?}",
    "/figures{rest:(/.*)?}",
    "/live{rest:(/.*)?}",
    "/halt{rest:(/.*)?}",
    "/signin{rest:(/.*)?}",
    "/signout",
    "/theme",
    "/static/{rest:.*}",
    "/reports/csp",
)
"""Everything below them is the inbox's, whatever the method: also its errors are pages."""


def mount(app: web.Application, make: Callable[[], Awaitable[Site]]) -> None:
    """Serve the inbox; `make` is called once, with the first page that is asked for."""
    lobby = _Lobby(make)
    app.on_cleanup.append(lobby.close)
    app[LOST] = lobby.answer
    for area in AREAS:
        app.router.add_route("*", area, lobby.answer, expect_handler=leave_expectations)


class _Lobby:
    """Lets the first visitors wait until there is a site."""

    def __init__(self, make: Callable[[], Awaitable[Site]]) -> None:
        self._make = make
        self._site: Site | None = None
        self._making = asyncio.Lock()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        request[ENTRY].ids = {}  # in a path may stand a secret, such as a link's token
        site = self._site or await self._made()
        return await site.answer(request)

    async def close(self, _app: web.Application) -> None:
        """End what the site has under way."""
        if self._site is not None:
            await self._site.close()

    async def _made(self) -> Site:
        async with self._making:
            if self._site is None:
                self._site = await self._make()
            return self._site
