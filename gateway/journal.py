"""A leased thread as the loop's journal: every append is fenced by the lease's epoch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import Event, Millis
from agent_core.thread.state import ThreadState
from gateway.threads import commit_work, read_on
from storage.store import Store


class StoreJournal:
    """The log of one thread, for as long as this worker holds its lease."""

    def __init__(
        self, store: Store, state: ThreadState, epoch: int, now: Callable[[], Millis]
    ) -> None:
        self.state = state
        self._store = store
        self._epoch = epoch
        self._now = now
        self._stale = False
        self._stirred = asyncio.Event()

    def stir(self, seq: int | None = None) -> None:
        """Hear that the log may have grown, or that the kill switch moved."""
        if seq is None or seq > self.state.seq:
            self._stale = True
            self._stirred.set()

    async def catch_up(self, state: ThreadState) -> ThreadState:  # noqa: ARG002 (this one knows it)
        """Read what others have appended, if anybody may have."""
        if self._stale:
            self._stale = False
            self.state = await read_on(self._store, self.state)
        return self.state

    async def append(self, events: Sequence[Event], *, seen: int | None = None) -> None:
        """Commit, unless the log has moved on from `seen` or the lease is gone."""
        if not events:
            return
        while True:
            if seen is not None and seen != self.state.seq:
                raise Overtaken
            try:
                self.state = await commit_work(
                    self._store, self.state, list(events), now=self._now(), epoch=self._epoch
                )
            except Overtaken:
                self._stale = True
                await self.catch_up(self.state)
            else:
                return

    async def stirred(self, seq: int) -> None:  # noqa: ARG002 (a hint is a hint)
        """Wait for a hint."""
        await self._stirred.wait()
        self._stirred.clear()
