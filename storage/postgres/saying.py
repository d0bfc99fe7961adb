"""Hints to other processes: said right after the commits that they tell of, many at a time.

Not within the commit: NOTIFY takes a lock that is global to the database and keeps it until the
transaction has ended, so that no two processes could wait for the disk at the same time. A
transaction that only notifies waits for no disk. If we die between the two, nobody hears of it, and
whoever polls finds it: a hint is a hint.

The process itself is told at once, and does not listen to its own voice.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator

from storage.errors import StoreError
from storage.hints import merged
from storage.values import Hint

ANY = "*"
"""A topic that no thread has: look at everything, something may have been missed."""

_MOST_BYTES = 7_900
"""PostgreSQL takes fewer than 8,000."""

_log = logging.getLogger(__name__)


class Saying:
    """What is to be said, and the task that says it; while it does, more gathers."""

    def __init__(self, notify: Callable[[str], Awaitable[object]]) -> None:
        """Take what says a payload."""
        self.voice = uuid.uuid4().hex[:12]
        """Ours, in every payload: what we said we have heard already."""
        self._notify = notify
        self._gathered: dict[str, Hint] = {}
        self._task: asyncio.Task[None] | None = None

    def say(self, hints: Iterable[Hint]) -> None:
        """Say them soon."""
        for hint in hints:
            self._gathered[hint.topic] = merged(self._gathered.get(hint.topic), hint)
        if self._gathered and self._task is None:
            self._task = asyncio.create_task(self._say_all(), name="postgres: say hints")

    async def finish(self) -> None:
        """Say what is left."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _say_all(self) -> None:
        try:
            while self._gathered:
                hints, self._gathered = self._gathered, {}
                await self._say(payload(self.voice, hints.values()))
        finally:
            self._task = None

    async def _say(self, text: str) -> None:
        """Say it; what can't be said is let go, and what has gathered since is tried by itself."""
        try:
            await self._notify(text)
        except StoreError as exc:
            _log.info("hints were not said: %s", exc)


def payload(voice: str, hints: Iterable[Hint]) -> str:
    """Write a notification: whose it is, then a hint on each line; too many are a call to look."""
    lines = "".join(f"\n{_written(hint)}" for hint in hints)
    if len(lines.encode()) > _MOST_BYTES:
        lines = f"\n{_written(Hint(ANY, 0))}"
    return f"={voice}{lines}"


def _written(hint: Hint) -> str:
    """Write it; a number that is negative tells of a thread that nobody can claim now."""
    status = f":{hint.status}" if hint.status else ""
    return f"{'' if hint.is_due else '-'}{hint.seq}{status} {hint.topic}"


def read_hints(text: str, *, voice: str = "") -> Iterator[Hint]:
    """Read a notification; what we said ourselves, or isn't ours at all, holds no hint."""
    for line in text.split("\n"):
        if line == f"={voice}":
            return
        number, _, topic = line.partition(" ")
        number, _, status = number.partition(":")
        seq = number.removeprefix("-")
        if seq.isdecimal():
            yield Hint(topic, int(seq), status, is_due=number == seq)
