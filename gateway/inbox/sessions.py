"""Sessions: who signed in with which browser, until when. Kept hashed and sealed, for all machines.

The cookie holds a secret; what is kept is its hash and, sealed, who they are. So a copy of the
database opens nothing. A session ends when it was not used for half a day, after a week in any
case, and at once by signing out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import Struct

from agent_core.thread.events import Millis
from channels.intake import Memory, SealBroken
from gateway.inbox.secrets import digest, new_token

OWNER: Final = "inbox"
"""Under whose name the store keeps what the pages remember."""

How: TypeAlias = Literal["key", "email", "slack"]
"""By which way somebody signed in."""

IDLE_SECONDS: Final = 12 * 3600
LONGEST_SECONDS: Final = 7 * 24 * 3600
_SEEN_EVERY_SECONDS: Final = 300
"""How exactly the last use is known: each time would be a write with each page."""
_PREFIX: Final = "session:"
_ENDED: Final = "ended session:"
_SHOWN: Final = 12


class Session(Struct, frozen=True, kw_only=True):
    """Somebody who has signed in."""

    how: How
    identity: str
    """What vouches for them: a key's hash, `email:ADDRESS`, or `slack:TEAM:USER`."""
    name: str
    """Theirs at that time."""
    made_at: Millis
    seen_at: Millis


class Sessions:
    """All of them."""

    def __init__(self, memory: Memory, clock: Callable[[], Millis]) -> None:
        self._memory = memory
        self._clock = clock

    async def begin(self, how: How, *, identity: str, name: str) -> str:
        """Sign somebody in; gives the secret for the cookie, always a new one."""
        token, now = new_token(), self._clock()
        made = Session(how=how, identity=identity, name=name, made_at=now, seen_at=now)
        await self._keep(digest(token), made)
        return token

    async def find(self, token: str) -> Session | None:
        """Give the session that a cookie stands for, if it goes on."""
        found = await self.look(token)
        if found is not None and self._clock() - found.seen_at > _SEEN_EVERY_SECONDS * 1000:
            return await self._prolonged(digest(token), found)
        return found

    async def look(self, token: str) -> Session | None:
        """Do the same without counting as a use: a page that is left open uses nothing."""
        return await self._recall(digest(token)) if token else None

    async def end(self, token: str) -> None:
        """Sign somebody out."""
        if await self.look(token) is not None:  # a forged cookie makes us write nothing
            await self._end(digest(token))

    async def listed(self) -> list[tuple[str, Session]]:
        """Give every session with its short name, the newest first."""
        found = []
        for key in await self._memory.keys(_PREFIX):
            kept = key.removeprefix(_PREFIX)
            session = await self._recall(kept)
            if session is not None:
                found.append((kept[:_SHOWN], session))
        return sorted(found, key=lambda one: one[1].made_at, reverse=True)

    async def revoke(self, wanted: Callable[[str, Session], bool]) -> int:
        """End those that are wanted ended; tells how many."""
        ended = 0
        for key in await self._memory.keys(_PREFIX):
            kept = key.removeprefix(_PREFIX)
            session = await self._recall(kept)
            if session is not None and wanted(kept[:_SHOWN], session):
                await self._end(kept)
                ended += 1
        return ended

    async def _prolonged(self, kept: str, found: Session) -> Session | None:
        """Write that it was used; if it was ended meanwhile, it stays ended."""
        used = msgspec.structs.replace(found, seen_at=self._clock())
        await self._keep(kept, used)
        if await self._memory.recall(_ENDED + kept) is None:
            return used
        await self._memory.keep(_PREFIX + kept, None)
        return None

    async def _end(self, kept: str) -> None:
        """Say that it has ended before it goes: whoever writes it again looks afterwards."""
        await self._memory.keep(_ENDED + kept, b"1", seconds=LONGEST_SECONDS)
        await self._memory.keep(_PREFIX + kept, None)

    async def _recall(self, kept: str) -> Session | None:
        try:
            raw = await self._memory.recall(_PREFIX + kept)
        except SealBroken:  # the secret key is another one now: nobody is signed in
            return None
        found = msgspec.json.decode(raw, type=Session) if raw is not None else None
        return found if found is not None and self._left(found) > 0 else None

    async def _keep(self, kept: str, session: Session) -> None:
        raw = msgspec.json.encode(session)
        await self._memory.keep(_PREFIX + kept, raw, seconds=self._left(session))

    def _left(self, session: Session) -> float:
        """Tell for how long it goes on if nobody uses it."""
        idle = session.seen_at + IDLE_SECONDS * 1000
        end = session.made_at + LONGEST_SECONDS * 1000
        return (min(idle, end) - self._clock()) / 1000


def short_name(token: str) -> str:
    """Give what a session is called in lists."""
    return digest(token)[:_SHOWN]
