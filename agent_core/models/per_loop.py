"""One of a thing for each event loop, closed when its loop ends.

An HTTP client's connections belong to the loop that opened them, while a model is made once
and used from whichever loop runs: each test has its own, and so has each `asyncio.run`. Nothing
about models is here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable


class Closable(Protocol):
    """What can be kept: it knows how to let go of its connections."""

    async def aclose(self) -> None:
        """Let go of everything."""
        ...


T = TypeVar("T", bound=Closable)


class PerLoop(Generic[T]):
    """Makes the thing at its first use in a loop, and gives the same one from then on."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = {}

    async def get(self) -> T:
        """Give this loop's own."""
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            self._forget_closed_loops()
            thing = self._make()
            keeper = _close_at_the_end(thing)
            # Noted before the first await, so that a second task can't make another.
            self._kept[loop] = (thing, keeper)
            await anext(keeper)
        return self._kept[loop][0]

    async def aclose(self) -> None:
        """Close this loop's own; the next use makes a new one."""
        kept = self._kept.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept[1].aclose()

    def _forget_closed_loops(self) -> None:
        # Not a WeakKeyDictionary: open connections refer to their loop, which would keep it alive.
        for loop in [loop for loop in self._kept if loop.is_closed()]:
            del self._kept[loop]


async def _close_at_the_end(thing: Closable) -> AsyncGenerator[None, None]:
    """Wait to be closed, and then close the thing.

    The loop knows the generators that were started in it and closes those still open as it shuts
    down, or when nobody refers to them any more: the only hook that a library has for either.
    """
    try:
        yield
    finally:
        await thing.aclose()
