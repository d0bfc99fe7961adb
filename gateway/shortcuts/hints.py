"""Hints from the store, spread to whoever listens in this process: engine, sender, waiting clients.

A hint says "look again", never "this is so". Who misses one looks again at the next poll.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from storage.store import Store
from storage.values import Hint

if TYPE_CHECKING:
    from collections.abc import Iterator

ANY = "*"
"""The topic of those who want to hear of every thread."""


class Hints:
    """One listener to the store, many in the process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: dict[str, set[Callable[[Hint], None]]] = defaultdict(set)

    async def run(self) -> None:
        """Pass on what the store says, until cancelled."""
        async for hint in self._store.wakes():
            for listener in self._concerned(hint.topic):
                listener(hint)

    def _concerned(self, topic: str) -> list[Callable[[Hint], None]]:
        if topic == ANY:  # hints may have been lost: everybody looks again
            return [one for listeners in self._listeners.values() for one in listeners]
        return [*self._listeners.get(topic, ()), *self._listeners.get(ANY, ())]

    @contextmanager
    def listening(self, topic: str, listener: Callable[[Hint], None]) -> Iterator[None]:
        """Hear of a topic for a while."""
        self._listeners[topic].add(listener)
        try:
            yield
        finally:
            self._listeners[topic].discard(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]

    @asynccontextmanager
    async def watching(self, topic: str) -> AsyncIterator[asyncio.Event]:
        """Give an event that is set whenever something is heard of the topic."""
        heard = asyncio.Event()
        with self.listening(topic, lambda _hint: heard.set()):
            yield heard


async def heard_or_later(heard: asyncio.Event, seconds: float) -> bool:
    """Wait for a hint, but not for ever: hints can be lost. Tell whether one came."""
    try:
        if not heard.is_set():  # or else a timeout would cost more than all the rest
            async with asyncio.timeout(seconds):
                await heard.wait()
    except TimeoutError:
        return False
    finally:
        heard.clear()
    return True
