"""Group commit: who may share a batch, in which order, and what happens to the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import pytest

from agent_core.thread.events import Millis, ThreadId
from storage.errors import Fenced, StoreUnreachable
from storage.postgres.batching import Batcher, Job, Outcome
from storage.texts import written
from storage.values import Commit, Committed, InboxKey, NewThread

NOW = Millis(1)


def _unheard(_written: Iterable[tuple[Job, Outcome]]) -> None:
    """Nobody listens."""


class Recorder:
    """Keeps the batches, and writes none before it is let."""

    def __init__(self, first: Exception | None = None, *, all_fail: bool = False) -> None:
        """Refuse the first commit of each batch, or the whole batch."""
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()
        self.most_at_once = 0
        self._at_once = 0
        self._first = first
        self._all_fail = all_fail

    async def write(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Note the batch, and wait for the gate."""
        self.batches.append([job.commit.thread for job in jobs])
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await self.gate.wait()
        self._at_once -= 1
        if self._first is None:
            return [Committed(1) for _ in jobs]
        if self._all_fail:
            raise self._first
        return [self._first, *(Committed(1) for _ in jobs[1:])]


def job(thread: str, *, key: str = "", thread_key: str = "", place: str = "") -> Job:
    """Make a small commit."""
    inbox = InboxKey(source="s", key=key) if key else None
    create = NewThread(agent="a", thread_key=thread_key) if thread_key else None
    commit = Commit(thread=ThreadId(thread), create=create, inbox=inbox, places=[place], now=NOW)
    return Job(commit, written(commit))


async def submitted(batcher: Batcher, *jobs: Job) -> list[asyncio.Task[object]]:
    """Submit all, and let the batcher begin."""
    tasks: list[asyncio.Task[object]] = [asyncio.create_task(batcher.submit(job)) for job in jobs]
    for _ in range(5):
        await asyncio.sleep(0)
    return tasks


async def test_those_who_come_together_are_written_together() -> None:
    """Without waiting for company; what comes meanwhile goes with the next batch."""
    recorder = Recorder()
    batcher = Batcher(recorder.write, _unheard, lanes=1, most=3)
    first = await submitted(batcher, *(job(name) for name in "abcde"))
    second = await submitted(batcher, job("f"))
    recorder.gate.set()
    await asyncio.gather(*first, *second)

    assert recorder.batches == [["a", "b", "c"], ["d", "e", "f"]]


async def test_commits_that_could_clash_wait_for_each_other_in_order() -> None:
    """The same thread, inbox key, thread key or place never stands in two batches at a time."""
    recorder = Recorder()
    batcher = Batcher(recorder.write, _unheard, lanes=4, most=9)
    tasks = await submitted(
        batcher,
        job("a"),
        job("a"),
        job("b", key="k"),
        job("c", key="k"),
        job("d", thread_key="x"),
        job("e", thread_key="x"),
        job("f", place="p"),
        job("g", place="p"),
        job("a"),
    )
    assert recorder.batches == [["a", "b", "d", "f"]]
    recorder.gate.set()
    await asyncio.gather(*tasks)

    assert recorder.batches == [["a", "b", "d", "f"], ["a", "c", "e", "g"], ["a"]]


async def test_lanes_bound_what_is_written_at_the_same_time() -> None:
    """A batch that waits for a lock leaves room for others, but not for all."""
    recorder = Recorder()
    batcher = Batcher(recorder.write, _unheard, lanes=2, most=1)
    tasks = await submitted(batcher, *(job(name) for name in "abcd"))
    recorder.gate.set()
    await asyncio.gather(*tasks)

    assert recorder.most_at_once == 2
    assert recorder.batches == [["a"], ["b"], ["c"], ["d"]]


async def test_whoever_gave_up_before_it_was_written_is_left_out() -> None:
    """Cancelled while it waited: nothing is written, and the others go on."""
    recorder = Recorder()
    batcher = Batcher(recorder.write, _unheard, lanes=1, most=9)
    begun = await submitted(batcher, job("a"))
    cancelled, waiting = await submitted(batcher, job("b"), job("c"))
    cancelled.cancel()
    begun[0].cancel()
    await asyncio.sleep(0)
    recorder.gate.set()
    await waiting

    assert recorder.batches == [["a"], ["c"]]


async def test_each_hears_of_its_own_fate() -> None:
    """One is refused, the other written."""
    recorder = Recorder(Fenced("gone"))
    recorder.gate.set()
    batcher = Batcher(recorder.write, _unheard, lanes=1, most=9)
    refused, written_ = await submitted(batcher, job("a"), job("b"))

    with pytest.raises(Fenced):
        await refused
    assert await written_ == Committed(1)


async def test_all_hear_when_the_store_is_away() -> None:
    """Nobody is left waiting."""
    recorder = Recorder(StoreUnreachable("away"), all_fail=True)
    recorder.gate.set()
    batcher = Batcher(recorder.write, _unheard, lanes=1, most=9)
    tasks = await submitted(batcher, job("a"), job("b"))

    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [StoreUnreachable] * 2 == [type(result) for result in results]


async def test_closing_finishes_what_was_taken_and_takes_nothing_more() -> None:
    """Also what still waits in the queue."""
    recorder = Recorder()
    batcher = Batcher(recorder.write, _unheard, lanes=1, most=1)
    tasks = await submitted(batcher, job("a"), job("b"))
    closing = asyncio.create_task(batcher.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnreachable):
        await batcher.submit(job("c"))
    recorder.gate.set()
    await closing

    assert [Committed(1)] * 2 == [task.result() for task in tasks]
