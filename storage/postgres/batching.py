"""Group commit: what queues up while a write is under way is written together by the next one.

Nothing waits for company: a commit that comes alone is written at once. Two commits of the same
thread, inbox key, thread key or place never share a batch, nor stand in two batches at a time, so a
batch never waits for a lock that its own process holds, and the order of a thread's commits is
kept.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from storage.errors import StoreUnreachable
from storage.texts import Written
from storage.values import Commit, CommitResult

Outcome: TypeAlias = CommitResult | Exception


class Job(NamedTuple):
    """A commit, and the parts of it that are text."""

    commit: Commit
    texts: Written


Write: TypeAlias = Callable[[Sequence[Job]], Awaitable[list[Outcome]]]
"""Writes a batch: for each commit what became of it, or what to raise where it was asked for."""


Tell: TypeAlias = Callable[[Iterable[tuple[Job, Outcome]]], None]
"""Hears what became of a batch, after those who asked for it have."""


class _Waiting(NamedTuple):
    job: Job
    keys: frozenset[Hashable]
    result: asyncio.Future[CommitResult]


class Batcher:
    """A queue of commits, and a few lanes in which batches of them are written."""

    def __init__(self, write: Write, tell: Tell, *, lanes: int, most: int) -> None:
        """Write batches of `most` commits at the most, `lanes` of them at a time."""
        self._write = write
        self._tell = tell
        self._lanes = lanes
        self._most = most
        self._queue: deque[_Waiting] = deque()
        self._busy: set[Hashable] = set()
        self._running: set[asyncio.Task[None]] = set()
        self._kicked = False
        self._closed = False

    async def submit(self, job: Job) -> CommitResult:
        """Write a commit, and return when it is durable."""
        if self._closed:
            raise StoreUnreachable("the store is closed")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(job, _keys(job.commit), loop.create_future())
        self._queue.append(waiting)
        self._kick_soon(loop)
        return await waiting.result

    async def close(self) -> None:
        """Take nothing more, and finish what was taken."""
        self._closed = True
        while self._queue or self._running:
            self._kick()
            if self._running:
                await asyncio.wait(self._running)

    def _kick_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start writing after everybody who is ready to submit has done so."""
        if not self._kicked and len(self._running) < self._lanes:
            self._kicked = True
            loop.call_soon(self._kick)

    def _kick(self) -> None:
        self._kicked = False
        while len(self._running) < self._lanes and (batch := self._take()):
            task = asyncio.create_task(self._run(batch))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._kick()

    def _take(self) -> list[_Waiting]:
        """Take what may be written together now; who stays behind keeps its place."""
        batch: list[_Waiting] = []
        behind: list[_Waiting] = []
        passed: set[Hashable] = set()
        while self._queue and len(batch) < self._most:
            waiting = self._queue.popleft()
            if waiting.result.done():  # whoever asked has given up, and nothing was written
                continue
            is_free = self._busy.isdisjoint(waiting.keys) and passed.isdisjoint(waiting.keys)
            (batch if is_free else behind).append(waiting)
            (self._busy if is_free else passed).update(waiting.keys)
        self._queue.extendleft(reversed(behind))
        return batch

    async def _run(self, batch: list[_Waiting]) -> None:
        try:
            outcomes = await self._write([waiting.job for waiting in batch])
        except Exception as exc:  # noqa: BLE001 (each of those who wait must hear of it)
            outcomes = [exc] * len(batch)
        finally:
            for waiting in batch:
                self._busy -= waiting.keys
        for waiting, outcome in zip(batch, outcomes, strict=True):
            _settle(waiting.result, outcome)
        self._tell(zip((waiting.job for waiting in batch), outcomes, strict=True))


def _settle(result: asyncio.Future[CommitResult], outcome: Outcome) -> None:
    if result.done():
        return
    if isinstance(outcome, Exception):
        result.set_exception(outcome)
    else:
        result.set_result(outcome)


def _keys(commit: Commit) -> frozenset[Hashable]:
    """Name what two commits can clash over."""
    keys: list[Hashable] = [commit.thread]
    if commit.inbox:
        keys.append((commit.inbox.source, commit.inbox.key))
    if commit.create and commit.create.thread_key:
        keys.append((commit.create.agent, commit.create.thread_key, ""))
    keys.extend(("place", place) for place in commit.places if place)
    keys.extend(("question", question.id) for question in commit.questions)
    return frozenset(keys)
