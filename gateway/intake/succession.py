"""Threads that follow one another in one place, where a later message ends the earlier thread.

A place belongs to one thread for ever, so each has a place of its own: the common one and a number.
Whoever takes a number first is next; everybody else sees that (`PlaceTaken`) and looks again. So
of many messages at once each begins its thread, each ends the one before it, and one is left.
A crash in between leaves the earlier thread ended, and the message comes again.
"""

from __future__ import annotations

from contextlib import suppress

from agent_core.errors import WrongStatus
from agent_core.thread.events import ThreadId
from gateway.control.local import LocalGateway
from storage.store import Store

_AT_REST = frozenset({"finished", "failed", "cancelled"})
_ENDED = frozenset({"finished", "cancelled"})
"""A failed one may have open questions, and could be retried."""
_REMEMBERED = 10_000
"""Places whose last number is remembered, so that it is not searched for each time."""


class Succession:
    """Finds who is the last in a place, and ends it."""

    def __init__(self, gateway: LocalGateway, store: Store) -> None:
        self._gateway = gateway
        self._store = store
        self._numbers: dict[str, int] = {}

    async def current(self, place: str) -> tuple[ThreadId | None, str]:
        """Give the last thread of a place, if there is one, and the place of the next."""
        number, thread = await self._last(place)
        self._numbers.pop(place, None)
        self._numbers[place] = number
        if len(self._numbers) > _REMEMBERED:
            del self._numbers[next(iter(self._numbers))]
        return thread, _numbered(place, number + 1)

    async def end(self, thread: ThreadId, *, by: str) -> None:
        """Cancel a thread that has not come to its end."""
        row = await self._store.thread(thread)
        if row is not None and row.status not in _ENDED:
            with suppress(WrongStatus):  # it came to its end meanwhile
                await self._gateway.cancel(thread, by=by, reason="a later event has superseded it")

    async def is_under_way(self, thread: ThreadId) -> bool:
        """Tell whether a thread works, waits for people, or is held by them."""
        row = await self._store.thread(thread)
        return row is not None and row.status not in _AT_REST

    async def _last(self, place: str) -> tuple[int, ThreadId | None]:
        """Find the highest number that is taken: leap until one is free, then halve the gap."""
        low = self._numbers.get(place, 0)
        thread = await self._at(place, low) if low else None
        leap = 1
        while (found := await self._at(place, low + leap)) is not None:
            low, thread, leap = low + leap, found, leap * 2
        high = low + leap
        while high - low > 1:
            middle = (low + high) // 2
            found = await self._at(place, middle)
            low, high, thread = (low, middle, thread) if found is None else (middle, high, found)
        return low, thread

    async def _at(self, place: str, number: int) -> ThreadId | None:
        return await self._store.thread_at(_numbered(place, number))


def _numbered(place: str, number: int) -> str:
    return f"{place}#{number}"
