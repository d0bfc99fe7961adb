"""Hints within a process: who listens, and what may be due.

A listener that is slow gets each topic once, with the highest number that was hinted at; one that
nobody holds any more is forgotten. Everything here happens in the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from weakref import ref

from msgspec.structs import replace

from storage.values import Commit, Committed, Hint

DELIVERIES = "deliveries"
HALT = Hint("halt", 0)


def _is_news(commit: Commit) -> bool:
    """Tell whether others should hear of the thread: it has grown, or is due."""
    return bool(commit.events) or _wakes(commit)


def _makes_due(commit: Commit) -> bool:
    """Tell whether somebody may claim the thread now, unless the commit itself has leased it."""
    is_held = commit.epoch is not None and not commit.release
    return _wakes(commit) and not is_held


def _wakes(commit: Commit) -> bool:
    return isinstance(commit.wake_at, int) and commit.wake_at <= commit.now


def hints_of(commit: Commit, done: Committed) -> list[Hint]:
    """Make the hints of a commit that was written; what it has leased needs no one's look."""
    hints: list[Hint] = []
    if _is_news(commit):
        is_due = done.epoch is None and _makes_due(commit)
        hints.append(Hint(commit.thread, done.seq, commit.status or "", is_due))
    if len(commit.deliveries) > len(done.deliveries):
        hints.append(Hint(DELIVERIES, 0))
    return hints


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
            self._heard[hint.topic] = merged(self._heard.get(hint.topic), hint)
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


def merged(before: Hint | None, hint: Hint) -> Hint:
    """Give the hint that stands for both; what was due may still be."""
    if before is None:
        return hint
    newest = hint if hint.seq >= before.seq else before
    is_due = before.is_due or hint.is_due
    return newest if newest.is_due == is_due else replace(newest, is_due=is_due)


class Hints:
    """The listeners of a store."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._listeners: list[ref[Listener]] = []

    def listen(self) -> Listener:
        """Add a listener."""
        listener = Listener()
        self._listeners.append(ref(listener, self._listeners.remove))
        return listener

    def tell(self, hints: Iterable[Hint]) -> None:
        """Tell everyone who listens."""
        told = list(hints)
        if told:
            for listener in self._all():
                listener.hear(told)

    def end(self) -> None:
        """End every listener."""
        for listener in self._all():
            listener.end()

    def _all(self) -> list[Listener]:
        return [listener for each in self._listeners if (listener := each()) is not None]
