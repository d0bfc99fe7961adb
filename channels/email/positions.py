"""How far a mailbox was read. Pure, but for the memory that keeps it.

Numbers of mails mean something only together with the folder's UIDVALIDITY (RFC 3501, 2.3.1.1).
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from channels.email.imap import ImapServer
from channels.intake import Memory

_MOST_FAILING: Final = 10_000


class Position(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All up to `uid` was tried; those that failed are tried again."""

    validity: int
    uid: int
    at: float
    """When that was so, in seconds since 1970."""
    failing: dict[int, int] = {}
    """How often each has failed while others were taken."""

    def again(self) -> list[int]:
        """Give what must be tried again: those that have failed least come first."""
        return sorted(self.failing, key=lambda uid: (self.failing[uid], uid))

    def past(self, uid: int, at: float) -> Position:
        """Go past a mail that was taken."""
        rest = {one: count for one, count in self.failing.items() if one != uid}
        return msgspec.structs.replace(self, uid=max(self.uid, uid), at=at, failing=rest)

    def without(self, uid: int, *, counts: bool) -> Position:
        """Go past a mail that failed, to come back to it."""
        count = self.failing.get(uid, 0) + counts
        failing = dict(sorted({**self.failing, uid: count}.items())[-_MOST_FAILING:])
        return msgspec.structs.replace(self, uid=max(self.uid, uid), failing=failing)


class Positions:
    """Keeps how far one mailbox was read, and who watches it."""

    def __init__(self, memory: Memory, server: ImapServer) -> None:
        self._memory = memory
        named = f"{server.username}@{server.host}:{server.port}/{server.folder}"
        self._name = hashlib.sha256(named.encode()).hexdigest()[:32]

    async def load(self) -> Position | None:
        """Give how far it was read; nothing if never."""
        kept = await self._memory.recall(f"imap:{self._name}")
        return msgspec.json.decode(kept, type=Position) if kept else None

    async def save(self, position: Position) -> None:
        """Keep how far it was read."""
        await self._memory.keep(f"imap:{self._name}", msgspec.json.encode(position))

    # Watching is for one process at a time, or people would hear everything twice.

    async def hold(self, holder: str, seconds: float) -> bool:
        """Take or prolong the right to watch; False if another has it.

        Two may both believe to have it for a moment: then each mail still has one effect.
        """
        key = f"imap watch:{self._name}"
        held = await self._memory.recall(key)
        if held is not None and held != holder.encode():
            return False
        await self._memory.keep(key, holder.encode(), seconds=seconds)
        return await self._memory.recall(key) == holder.encode()

    async def let_go(self, holder: str) -> None:
        """Give the right back."""
        key = f"imap watch:{self._name}"
        if await self._memory.recall(key) == holder.encode():
            await self._memory.keep(key, None)
