"""Links that sign somebody in: for a quarter of an hour, once, and perhaps in one browser only.

The address holds a secret; what is kept is its hash and, sealed, who it is for. Looking at a link
changes nothing, because programs look at every link in a mail.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from channels.intake import Memory, SealBroken
from gateway.inbox.secrets import digest, new_token
from gateway.inbox.sessions import How

PATH: Final = "/signin/link/"
SECONDS: Final = 15 * 60
_PREFIX: Final = "link:"


class Link(Struct, frozen=True, kw_only=True):
    """Whom a link signs in, and where it leads."""

    how: How
    identity: str
    """As in `Session`."""
    name: str
    then: str
    browser: str = ""
    """The hash of the browser's cookie that asked for it; empty where any will do."""

    def fits(self, browser: str) -> bool:
        """Tell whether this browser may use it."""
        return not self.browser or (bool(browser) and digest(browser) == self.browser)


class Links:
    """All that were given out."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def make(
        self, how: How, *, identity: str, name: str, then: str = "/", browser: str = ""
    ) -> str:
        """Make one; gives the path of its page."""
        token = new_token()
        bound = digest(browser) if browser else ""
        link = Link(how=how, identity=identity, name=name, then=then, browser=bound)
        await self._memory.keep(_PREFIX + digest(token), msgspec.json.encode(link), seconds=SECONDS)
        return PATH + token

    async def look(self, token: str) -> Link | None:
        """Give whom it is for, if it can still be used."""
        try:
            return _read(await self._memory.recall(_PREFIX + digest(token)))
        except SealBroken:
            return None

    async def use(self, token: str) -> Link | None:
        """Use it up: of many who try, exactly one gets it."""
        try:
            return _read(await self._memory.take(_PREFIX + digest(token)))
        except SealBroken:
            return None


def _read(kept: bytes | None) -> Link | None:
    return None if kept is None else msgspec.json.decode(kept, type=Link)
