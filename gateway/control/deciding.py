"""Deciding about a thread: on its state as it is, committed if it still is so; else again.

The first look is at what this process remembers, so that most commands read nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from agent_core.errors import ImpossibleEvent, Refused
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.state import ThreadState
from gateway.control.copies import Copies
from gateway.control.service import IdempotencyConflict, NotFound, TooBusy
from gateway.shortcuts.states import Known
from gateway.work.threads import commit_outside, read_thread, row_of
from storage.errors import UnknownThread
from storage.values import Commit, Duplicate, InboxKey, InboxRecord, ThreadRow

Decide: TypeAlias = Callable[[ThreadState, Millis], list[Event]]

_TRIES = 50
"""How often to look again after being overtaken. Each time somebody else got through."""


class Deciding(Copies):
    """What commits a decision about a thread."""

    async def _commit(
        self, thread: ThreadId, decide: Decide, *, inbox: InboxKey | None = None
    ) -> tuple[Commit, ThreadRow]:
        """Decide and commit; give the commit, and the row as it was, but for its lease."""
        if inbox is not None and (first := await self._store.inbox(inbox.source, inbox.key)):
            check_same(first, inbox)  # before deciding: the thread may have moved on since
            return await self._nothing(thread)
        commit, known = await self._decide(thread, decide, inbox=inbox)
        if not commit.events:
            return await self._nothing(thread)
        return commit, known.row or row_of(known.state)

    async def _nothing(self, thread: ThreadId) -> tuple[Commit, ThreadRow]:
        """Commit nothing, because it was committed before."""
        row = await self._row(thread)
        return Commit(thread=thread, now=row.updated_at), row

    async def _decide(
        self, thread: ThreadId, decide: Decide, *, inbox: InboxKey | None = None
    ) -> tuple[Commit, Known]:
        """Decide on the state as it is, commit if it still is so, and look again if not.

        The first look is at what is remembered: if that has grown old, the commit finds out. And
        a command that it would refuse may be in order by now.
        """
        known = self._nearby.states.get(thread)
        if known is not None:
            with suppress(Overtaken, Refused, ImpossibleEvent, UnknownThread):
                return await self._try(known, decide, inbox)
            self._nearby.states.forget(thread)
        for _ in range(_TRIES):
            known = await read_thread(self._store, thread)
            if known is None:
                raise NotFound(f"there is no thread {thread!r}")
            with suppress(Overtaken):
                return await self._try(known, decide, inbox)
        raise TooBusy("this thread is changing too fast", retry_after=1)

    async def _try(
        self, known: Known, decide: Decide, inbox: InboxKey | None
    ) -> tuple[Commit, Known]:
        now = self._world.now()
        result, commit = await commit_outside(
            self._store,
            known.state,
            decide(known.state, now),
            now=now,
            inbox=inbox,
            nearby=self._nearby,
            known=known,
            routing=self._routing,
        )
        if isinstance(result, Duplicate):  # another copy got through just now
            check_same(result.first, inbox)
            return Commit(thread=known.state.id, now=now), known
        return commit, known


def check_same(first: InboxRecord, inbox: InboxKey | None) -> None:
    """Refuse a key that was used with another request."""
    if inbox is not None and first.digest != inbox.digest:
        raise IdempotencyConflict("this Idempotency-Key was used before, with another request")
