"""Somebody with a browser that runs no script: gets pages, fills forms, follows redirects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from html.parser import HTMLParser
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import aiohttp

from tests.doubles.inbox_house import InboxHouse


class Form:
    """A form as it stands on a page: where it goes, and what its inputs hold."""

    def __init__(self, action: str, method: str) -> None:
        self.action, self.method = action, method
        self.values: dict[str, str] = {}


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note forms and what is in them."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
        elif self.forms and tag == "input" and given.get("type") not in {"radio", "checkbox"}:
            self.forms[-1].values[given["name"]] = given.get("value", "")
        elif self.forms and tag == "textarea":
            self._area = given["name"]
            self.forms[-1].values[self._area] = ""

    def handle_endtag(self, tag: str) -> None:
        """Note where a text ends."""
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        """Take what stands in a text area; a first line's end is not part of it."""
        if self._area:
            self.forms[-1].values[self._area] += data.removeprefix("\n")


class Reader:
    """One visitor."""

    def __init__(self, house: InboxHouse, cookies: Mapping[str, str]) -> None:
        self._house = house
        jar = aiohttp.CookieJar(unsafe=True)
        self._http = aiohttp.ClientSession(cookies=dict(cookies), cookie_jar=jar)
        self.status = 0
        self.path = ""
        self.html = ""

    async def __aenter__(self) -> Self:
        """Begin."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the browser."""
        await self._http.close()

    @property
    def text(self) -> str:
        """What is there to read."""
        unseen = re.sub(r"<(script|template).*?</\1>|</?mark>", "", self.html, flags=re.DOTALL)
        without = re.sub(r"<[^>]+>", " ", unseen)
        return " ".join(unescape(without).split())

    async def get(self, path: str) -> int:
        """Go to a page; gives its status."""
        async with self._http.get(urljoin(self._house.url, path)) as answer:
            return await self._read(answer)

    async def press(self, action: str, **typed: str) -> int:
        """Send the form that goes there, with this filled in; gives the status of what follows."""
        parser = _Forms()
        parser.feed(self.html)
        form = next(one for one in parser.forms if one.action.endswith(action))
        data = {**form.values, **typed}
        url = urljoin(self._house.url, form.action)
        headers = {"Origin": self._house.url}
        if form.method == "get":
            answer = await self._http.get(url, params=data)
        else:
            answer = await self._http.post(url, data=data, headers=headers)
        return await self._read(answer)

    async def _read(self, answer: aiohttp.ClientResponse) -> int:
        self.status, self.path, self.html = answer.status, answer.url.path, await answer.text()
        return self.status
