"""Visits by plain HTTP: somebody with cookies of their own, and the house that they come to."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from multidict import CIMultiDict

from agent_core.loop.world import World
from gateway.control.keys import new_key
from storage.values import ApiKey, Scope
from tests.doubles.inbox_house import InboxHouse, inbox_house

_CSRF = re.compile(r'name="csrf" value="([^"]*)"')


@dataclass
class Answer:
    """A response, read."""

    status: int
    headers: CIMultiDict[str]
    text: str
    cookies: Mapping[str, str]

    @property
    def csrf(self) -> str:
        """The token that the page's forms hold."""
        found = _CSRF.search(self.text)
        assert found is not None, self.text
        return found[1]


@dataclass
class Visit:
    """Somebody with a browser of their own: it keeps cookies, and follows nothing by itself."""

    url: str
    session: aiohttp.ClientSession
    cookies: dict[str, str] = field(default_factory=dict)

    async def ask(self, method: str, path: str, **more: Any) -> Answer:  # noqa: ANN401 (aiohttp's)
        """Ask for something."""
        held = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": held} if held else {}
        headers |= more.pop("headers", {})
        async with self.session.request(
            method, self.url + path, headers=headers, allow_redirects=False, **more
        ) as response:
            given = {name: one.value for name, one in response.cookies.items()}
            self.cookies |= given
            self.cookies = {name: value for name, value in self.cookies.items() if value}
            return Answer(response.status, response.headers.copy(), await response.text(), given)

    async def get(self, path: str, **more: Any) -> Answer:  # noqa: ANN401 (aiohttp's)
        """Look at a page."""
        return await self.ask("GET", path, **more)

    async def post(self, path: str, form: Mapping[str, str], **more: Any) -> Answer:  # noqa: ANN401
        """Send a form."""
        return await self.ask("POST", path, data=form, **more)

    async def sign_in(self, key: str, **form: str) -> Answer:
        """Sign in with a key, as the page does."""
        csrf = (await self.get("/signin")).csrf
        return await self.post("/signin/key", {"csrf": csrf, "key": key, **form})


@dataclass
class Grounds:
    """The house, and who comes to it."""

    house: InboxHouse
    session: aiohttp.ClientSession

    def visit(self, **cookies: str) -> Visit:
        """Let somebody come."""
        return Visit(self.house.url, self.session, dict(cookies))

    async def key(self, *scopes: Scope, name: str = "boss") -> tuple[str, ApiKey]:
        """Make a key."""
        text, row = new_key(name, scopes or ("admin",), now=World().now())
        await self.house.store.add_key(row)
        return text, row

    async def signed_in(self) -> Visit:
        """Let somebody come who has signed in."""
        visit = self.visit()
        assert (await visit.sign_in((await self.key())[0])).status == 303
        return visit


@asynccontextmanager
async def opened(**options: Any) -> AsyncIterator[Grounds]:  # noqa: ANN401 (of inbox_house)
    """Open the house."""
    async with (
        inbox_house(works=False, **options) as house,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
    ):
        yield Grounds(house, session)
