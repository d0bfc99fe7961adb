"""Purging: threads that ended long ago go with all that hangs on them, and leave a tombstone.

One thread at a time, each in a transaction of its own, so nobody waits for it. One that wakes
meanwhile stays. Killed in between, the next run goes on with what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent_core.errors import WrongStatus
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadId
from agent_core.thread.questions import QuestionId
from channels.email import forgetting
from channels.intake import Memory
from gateway.audit.tombstones import tombstone_of
from gateway.control.service import NotFound
from gateway.retention.plans import events_of, question_ids
from storage.errors import Unreadable
from storage.retention import Ended, EndedWish, Purge
from storage.sealed import SealedLog
from storage.seals import Seal
from storage.store import Store
from storage.values import CachedStatus

ENDED: tuple[CachedStatus, ...] = ("finished", "failed", "cancelled")
_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Which threads are to go."""

    older_than_ms: int
    statuses: tuple[CachedStatus, ...] = ENDED
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Purging:
    """Deletes threads."""

    store: Store
    seal: Seal
    mails: Memory
    """What the email channel remembers with."""
    world: World = field(default_factory=World)
    pause_seconds: float = 0.0
    """How long to rest after each thread."""

    async def candidates(self, which: Which) -> AsyncIterator[Ended]:
        """Give the threads that are to go, the oldest first."""
        before = Millis(self.world.now() - which.older_than_ms)
        wish = EndedWish(statuses=which.statuses, before=before, agent=which.agent)
        while page := await self.store.retention().ended(wish):
            for one in page:
                yield one
            wish = replace(wish, after=(page[-1].created_at, page[-1].thread))

    async def purge_all(self, which: Which, *, by: str) -> AsyncIterator[Ended]:
        """Purge them, and give each that is gone."""
        async for one in self.candidates(which):
            if await self._purge(one.thread, by):
                yield one
            await asyncio.sleep(self.pause_seconds)

    async def purge_one(self, thread: str, *, by: str) -> None:
        """Purge a thread; NotFound if there is none, WrongStatus if it is not over."""
        for _ in range(_TRIES):  # somebody may have read or written it just now
            row = await self.store.thread(ThreadId(thread))
            if row is None:
                raise NotFound(f"there is no thread {thread!r}")
            if row.status not in ENDED:
                raise WrongStatus(f"thread {thread} is {row.status}: only what is over can go")
            if await self._purge(row.id, by):
                return
        raise WrongStatus(
            f"thread {thread} is over, but something is left to be done in it: an open question, "
            "a message to be sent, or what has to be undone"
        )

    async def forget_the_rest(self) -> None:
        """Forget the keys of messages to threads that are gone; this looks at every key.

        And mails, should whoever purged their thread have been cut off before these.
        """
        await forgetting.forget_gone(self.mails, self._is_purged)
        last: tuple[str, str] | None = ("", "")
        while last is not None:
            last = await self.store.retention().forget_copies(last)
            await asyncio.sleep(self.pause_seconds)

    async def _is_purged(self, thread: str) -> bool:
        """Tell whether it was purged; one that is not there may be about to begin."""
        stone = await self.store.retention().tombstone(ThreadId(thread))
        return stone is not None and await self.store.thread(ThreadId(thread)) is None

    async def _purge(self, thread: ThreadId, by: str) -> bool:
        log = await self.store.audit().log(thread)
        return log is not None and await self.purge_read(log, by=by)

    async def purge_read(self, log: SealedLog, *, by: str) -> bool:
        """Purge a thread if it is as it was read, and over; tells whether it is gone."""
        now, thread = self.world.now(), log.thread
        earlier = await self.store.retention().tombstone(thread)
        stone = tombstone_of(self.seal, log, at=now, by=by, earlier=earlier)
        purge = Purge(tombstone=stone, questions=_asked(log), updated_at=log.updated_at, now=now)
        places = await self.store.retention().purge(purge)
        if places is None:
            return False
        await forgetting.forget_thread(self.mails, thread, places)
        return True


def _asked(log: SealedLog) -> list[QuestionId]:
    try:
        return question_ids(events_of(log))
    except (Unreadable, UnicodeDecodeError):  # damaged: what it asked stays in the index
        return []
