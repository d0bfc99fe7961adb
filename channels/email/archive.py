"""Mail as it came: kept for a while, found by digest, Message-ID or thread; and what was put aside.

Names in the memory are not sealed, so they hold digests and ids of threads, never addresses.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from typing import Final

import msgspec

from channels.email.mail import ReadMail
from channels.intake import Memory

_DAY: Final = 24 * 3_600.0
KEPT_SECONDS: Final = 90 * _DAY
MOST_BYTES: Final = 10_000_000
_LONGEST: Final = 300
_SHORTEST_PREFIX: Final = 8


class Aside(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A mail that nobody was troubled with, and why."""

    digest: str
    at: int
    """Milliseconds since 1970."""
    reason: str
    kind: str = ""
    sender: str = ""
    subject: str = ""
    message_id: str = ""
    size: int = 0
    is_kept: bool = True
    """Whether the mail itself is there, too."""


class Archive:
    """Keeps mail as it came."""

    def __init__(self, memory: Memory, *, clock: Callable[[], float] = time.time) -> None:
        """Take a clock that gives seconds since 1970."""
        self._memory = memory
        self._clock = clock

    async def keep(self, raw: bytes, mail: ReadMail) -> None:
        """Keep a mail before anything comes of it."""
        writes = [self._memory.keep(_raw(mail.digest), raw, seconds=KEPT_SECONDS)]
        if mail.message_id:
            named, value = _named(mail.message_id), mail.digest.encode()
            writes.append(self._memory.keep(named, value, seconds=KEPT_SECONDS))
        await asyncio.gather(*writes)  # together they cost one commit

    async def file(self, thread: str, digest: str) -> None:
        """Note which thread a mail went to."""
        key = f"thread:{thread}:{round(self._clock() * 1000):015d}:{digest}"
        await self._memory.keep(key, b"1", seconds=KEPT_SECONDS)

    async def put_aside(self, raw: bytes, mail: ReadMail) -> None:
        """Keep a mail for the operator alone."""
        if 0 < len(raw) <= MOST_BYTES:
            await asyncio.gather(self.list_aside(mail, len(raw)), self.keep(raw, mail))
        else:
            await self.list_aside(mail, len(raw), is_kept=False)

    async def list_aside(self, mail: ReadMail, size: int, *, is_kept: bool = True) -> None:
        """Let the operator find a mail that nobody was troubled with."""
        note = Aside(
            digest=mail.digest,
            at=round(self._clock() * 1000),
            reason=mail.reason[:_LONGEST],
            kind=mail.kind,
            sender=mail.sender.email if mail.sender else "",
            subject=mail.subject[:_LONGEST],
            message_id=mail.message_id[:_LONGEST],
            size=size,
            is_kept=is_kept,
        )
        value = msgspec.json.encode(note)
        await self._memory.keep(_aside(mail.digest), value, seconds=KEPT_SECONDS)

    async def aside(self) -> list[Aside]:
        """Give what was put aside, the newest first."""
        kept = [await self._memory.recall(key) for key in await self._memory.keys(_aside(""))]
        found = [msgspec.json.decode(one, type=Aside) for one in kept if one is not None]
        return sorted(found, key=lambda one: -one.at)

    async def digests(self, reference: str) -> list[str]:
        """Give the mails that a digest (or its beginning), Message-ID or thread names."""
        if "@" in reference:
            bare = reference.strip().strip("<>")
            kept = await self._memory.recall(_named(f"<{bare}>"))
            return [kept.decode()] if kept else []
        if filed := await self._memory.keys(f"thread:{reference}:"):
            return list(dict.fromkeys(key.rpartition(":")[2] for key in filed))
        if len(reference) < _SHORTEST_PREFIX:
            return []
        return [key.partition(":")[2] for key in await self._memory.keys(_raw(reference.lower()))]

    async def raw(self, digest: str) -> bytes | None:
        """Give a mail as it came."""
        return await self._memory.recall(_raw(digest))


def _raw(digest: str) -> str:
    return f"raw:{digest}"


def _aside(digest: str) -> str:
    return f"aside:{digest}"


def _named(message_id: str) -> str:
    return f"original:{hashlib.sha256(message_id.encode()).hexdigest()[:32]}"
