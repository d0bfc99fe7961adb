"""A leased thread as the loop's journal: every append is fenced by the lease's epoch.

It also fires the thread's timers while the loop is at work, and gives the lease back with the
commit after which nothing is left to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import Event, Millis
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState
from agent_core.thread.timers import due, next_due
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.nearby import Nearby
from gateway.shortcuts.states import Known
from gateway.work.threads import read_on, work_commit
from storage.store import Store
from storage.values import Committed


class StoreJournal:
    """The log of one thread, for as long as this worker holds its lease."""

    def __init__(
        self,
        store: Store,
        known: Known,
        epoch: int,
        now: Callable[[], Millis],
        nearby: Nearby | None = None,
        *,
        routing: Routing = ORIGIN_ONLY,
    ) -> None:
        self.state = known.state
        self.snapshot_seq = known.snapshot_seq
        self.may_release = False
        """Whether the commit that leaves nothing to do may give the lease back."""
        self.is_letting_go = False
        """The lease is being given back, or is gone: nobody need renew it."""
        self._store = store
        self._known = known
        self._epoch = epoch
        self._now = now
        self._nearby = nearby or Nearby()
        self._routing = routing
        self._stale = False
        self._waiting: asyncio.Future[None] | None = None

    def stir(self, seq: int | None = None) -> None:
        """Hear that the log may have grown, or that the kill switch moved."""
        if seq is None or seq > self.state.seq:
            self._stale = True
            if self._waiting is not None:
                _tell(self._waiting)

    async def catch_up(self, state: ThreadState) -> ThreadState:  # noqa: ARG002 (this one knows it)
        """Read what others have appended, if anybody may have, and fire what is due."""
        if self._stale and not self.is_letting_go:
            await self._read()
        if self.state.open_questions and not self.is_letting_go:
            await self.fire_timers()
        return self.state

    async def fire_timers(self) -> None:
        """Append what the timers have to say by now; of what was settled first, nothing."""
        while events := due(self.state, self._now()):
            with suppress(Overtaken):
                await self.append(events, seen=self.state.seq)
                return

    async def append(
        self,
        events: Sequence[Event],
        *,
        seen: int | None = None,
        after: ThreadState | None = None,
    ) -> None:
        """Commit, unless the log has moved on from `seen` or the lease is gone."""
        if not events:
            return
        while True:
            if seen is not None and seen != self.state.seq:
                raise Overtaken
            after = fold(events, onto=self.state) if after is None else after
            try:
                await self._commit(events, after)
            except Overtaken:
                after = None
                await self._read()
            else:
                return

    def stirred(self, seq: int) -> asyncio.Future[None]:  # noqa: ARG002 (a hint is a hint)
        """Tell of a hint, or that a timer is due."""
        loop = asyncio.get_running_loop()
        stirred: asyncio.Future[None] = loop.create_future()
        moment = next_due(self.state)
        if self._stale:
            stirred.set_result(None)
        elif moment is not None:
            timer = loop.call_later(max(moment - self._now(), 0) / 1000, _tell, stirred)
            stirred.add_done_callback(lambda _done: timer.cancel())
        self._waiting = stirred
        return stirred

    async def _read(self) -> None:
        self._stale = False  # before reading: what is heard meanwhile counts
        try:
            self.state = await read_on(self._store, self.state)
        except BaseException:
            self._stale = True
            raise

    async def _commit(self, events: Sequence[Event], after: ThreadState) -> None:
        commit = work_commit(
            events,
            after,
            now=self._now(),
            epoch=self._epoch,
            may_release=self.may_release,
            send_lease_ms=self._nearby.send_lease_ms(),
            routing=self._routing,
        )
        self.is_letting_go = commit.release
        try:
            done = await self._store.commit(commit)
        except BaseException:
            self.is_letting_go = False
            raise
        self.state = after
        if isinstance(done, Committed):
            self._nearby.pass_on(done.deliveries)
        if commit.release:  # while it is at work it changes all the time
            self._nearby.states.keep(self._known.moved_to(after))


def _tell(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
