"""Hints within a process: who listens, and what may be due.

A listener that is slow gets each topic once, with the highest number that was hinted at; one that
nobody holds any more is forgotten. Everything here happens in the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from weakref import WeakSet

from storage.values import Commit, Hint

DELIVERIES = "deliveries"
HALT = Hint("halt", 0)


def topics_of(commit: Commit) -> list[str]:
    """Tell what others should hear of: a thread that has grown or is due, and the outbox."""
    topics: list[str] = []
    is_due = isinstance(commit.wake_at, int) and commit.wake_at <= commit.now
    if commit.events or is_due:
        topics.append(commit.thread)
    if commit.deliveries:
        topics.append(DELIVERIES)
    return topics


def hints_of(commit: Commit, seq: int) -> list[Hint]:
    """Make the hints of a commit that was written, whose last event is `seq`."""
    return [
        Hint(topic, seq, commit.status or "") if topic == commit.thread else Hint(topic, 0)
        for topic in topics_of(commit)
    ]


class Listener:
    """One who listens, from the moment that this was made."""

    def __init__(self) -> None:
        """Begin with nothing heard."""
        self._heard: dict[str, Hint] = {}
        self._something = asyncio.Event()
        self._over = False

    def hear(self, hints: Iterable[Hint]) -> None:
        """Remember hints until they are asked for."""
        for hint in hints:
            before = self._heard.get(hint.topic, hint)
            self._heard[hint.topic] = hint if hint.seq >= before.seq else before
        self._something.set()

    def end(self) -> None:
        """Let whoever listens go home."""
        self._over = True
        self._something.set()

    async def __aiter__(self) -> AsyncIterator[Hint]:
        """Give hints as they come, until the store closes."""
        while True:
            await self._something.wait()
            while self._heard:
                yield self._heard.pop(next(iter(self._heard)))
            if self._over:
                return
            self._something.clear()


class Hints:
    """The listeners of a store."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._listeners: WeakSet[Listener] = WeakSet()

    def listen(self) -> Listener:
        """Add a listener."""
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def tell(self, hints: Iterable[Hint]) -> None:
        """Tell everyone who listens."""
        told = list(hints)
        if told:
            for listener in self._listeners:
                listener.hear(told)

    def end(self) -> None:
        """End every listener."""
        for listener in self._listeners:
            listener.end()
