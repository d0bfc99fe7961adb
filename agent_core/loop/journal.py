"""Where the loop appends, as a protocol; and the one in memory that the library works with.

The protocol is what makes the loop safe among many writers: what depends on the state (start a
tool, finish) is appended only if nothing has come since it was looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from agent_core.thread.checkpoint import Log
from agent_core.thread.events import Event
from agent_core.thread.fold import fold
from agent_core.thread.state import ThreadState


class Overtaken(Exception):
    """A signal, not an error: the log has grown since the state that was decided on."""


class Journal(Protocol):
    """A thread's log, as the one worker sees it that may advance it."""

    async def catch_up(self, state: ThreadState) -> ThreadState:
        """Give the state with everything that has been appended since, by anybody."""
        ...

    async def append(
        self,
        events: Sequence[Event],
        *,
        seen: int | None = None,
        after: ThreadState | None = None,
    ) -> None:
        """Append all of it or nothing; raise Overtaken if `seen` is no longer the last event.

        after: what the events make of the state at `seen`, if the caller has it; it is given away.
        """
        ...

    def stirred(self, seq: int) -> asyncio.Future[None]:
        """Give what is done when the log has, or may have, more than `seq` events.

        Who no longer wants to know cancels it.
        """
        ...


class MemoryJournal:
    """A log in this process, with its state."""

    def __init__(
        self,
        log: Log,
        state: ThreadState,
        on_events: Callable[[Sequence[Event]], None] | None = None,
    ) -> None:
        """Take over a log and what it adds up to."""
        self.log = log
        self.state = state
        self._on_events = on_events
        self._waiting: set[asyncio.Future[None]] = set()

    async def catch_up(self, state: ThreadState) -> ThreadState:  # noqa: ARG002 (this one knows it)
        """Give the state as it is now."""
        return self.state

    async def append(
        self,
        events: Sequence[Event],
        *,
        seen: int | None = None,
        after: ThreadState | None = None,
    ) -> None:
        """Append, unless the log has moved on or the events are impossible."""
        if seen is not None and seen != self.state.seq:
            raise Overtaken
        state = fold(events, onto=self.state) if after is None else after
        self.log.extend(events)
        self.state = state
        if self._on_events is not None:
            self._on_events(events)
        for waiter in tuple(self._waiting):
            if not waiter.done():
                waiter.set_result(None)

    def stirred(self, seq: int) -> asyncio.Future[None]:
        """Tell of growth. A future of this loop, because a thread may outlive a loop."""
        grown: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.state.seq > seq:
            grown.set_result(None)
        else:
            self._waiting.add(grown)
            grown.add_done_callback(self._waiting.discard)
        return grown
