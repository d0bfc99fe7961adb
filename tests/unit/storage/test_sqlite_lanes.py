"""Lanes: jobs go to threads in batches of what has queued up, and come back to the loop."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing

import pytest

from storage.errors import StoreBusy, StoreError
from storage.sqlite.lanes import Job, Lane, Outcome


class Recorder:
    """Does jobs, remembers its batches, and can be held up."""

    def __init__(self) -> None:
        """Begin without a batch."""
        self.batches: list[int] = []
        self.may_go = threading.Event()
        self.may_go.set()

    def __call__(self, db: sqlite3.Connection, jobs: Sequence[Job]) -> list[Outcome]:
        """Do the jobs."""
        self.may_go.wait(10)
        self.batches.append(len(jobs))
        return [job(db) for job in jobs]


def lane(perform: Recorder, *, threads: int = 1, most: int = 8, capacity: int = 100) -> Lane:
    """Start a lane; its jobs need no database."""
    with closing(sqlite3.connect(":memory:")) as unused:
        connections = [unused] * threads
    return Lane(connections, perform, name="test", most=most, capacity=capacity)


async def results(each: Lane, count: int) -> list[int]:
    """Have many jobs done at once."""

    async def done(number: int) -> int:
        return await each.do(lambda _db: number)

    return await asyncio.gather(*(done(number) for number in range(count)))


async def queued() -> None:
    """Let tasks that were just made begin, and their own tasks as well."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_what_has_queued_up_is_one_batch_up_to_a_limit() -> None:
    """One fsync for all of them; nobody waits for a batch to fill."""
    recorder = Recorder()
    recorder.may_go.clear()
    writer = lane(recorder)
    everything = asyncio.create_task(results(writer, 20))
    await queued()
    recorder.may_go.set()

    assert list(range(20)) == await everything
    await writer.close()
    assert sum(recorder.batches) == 20
    assert max(recorder.batches) == 8
    assert len(recorder.batches) <= 4  # what the thread found first, and the rest in batches


async def test_job_in_no_hurry_goes_with_the_next_one() -> None:
    """It wakes no thread up by itself, keeps its place, and does not wait for ever."""
    recorder = Recorder()
    writer = lane(recorder)
    done: list[str] = []
    patient = asyncio.create_task(writer.do(lambda _db: done.append("patient"), by_and_by=True))
    await asyncio.sleep(0)
    assert writer._queue.empty()
    await writer.do(lambda _db: done.append("urgent"))
    await patient

    assert done == ["patient", "urgent"]

    async with asyncio.timeout(10):
        await writer.do(lambda _db: done.append("alone"), by_and_by=True)
    assert done[-1] == "alone"
    await writer.close()


async def test_closing_does_also_what_was_in_no_hurry() -> None:
    """Whoever waits for it gets it done."""
    writer = lane(Recorder())
    patient = asyncio.create_task(writer.do(lambda _db: "done", by_and_by=True))
    await asyncio.sleep(0)

    await writer.close()

    assert await patient == "done"


async def test_closing_does_what_was_accepted_and_refuses_the_rest() -> None:
    """Also with several threads, each of which has to hear of the end."""
    recorder = Recorder()
    readers = lane(recorder, threads=3, most=1)
    everything = asyncio.create_task(results(readers, 30))
    await queued()
    await readers.close()

    assert list(range(30)) == await everything
    with pytest.raises(StoreError, match="closed"):
        await readers.do(lambda _db: None)
    await readers.close()


async def test_queue_has_an_end() -> None:
    """Beyond it whoever comes is told to come later, in place of waiting without end."""
    recorder = Recorder()
    recorder.may_go.clear()
    writer = lane(recorder, capacity=2)
    waiting = asyncio.create_task(results(writer, 2))
    await queued()

    with pytest.raises(StoreBusy, match="2 requests are waiting"):
        await writer.do(lambda _db: None)

    recorder.may_go.set()
    assert await waiting == [0, 1]
    assert await writer.do(lambda _db: "room again") == "room again"
    await writer.close()


async def test_job_that_nobody_waits_for_any_more_is_not_begun() -> None:
    """A claim that was cancelled while it queued must not lease anything."""
    recorder = Recorder()
    recorder.may_go.clear()
    writer = lane(recorder, most=1)
    done: list[str] = []
    tasks = [
        asyncio.create_task(writer.do(lambda _db, name=name: done.append(name)))  # type: ignore[misc]
        for name in ("first", "second", "third")
    ]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    recorder.may_go.set()
    await writer.close()

    assert done == ["first", "third"]
    assert tasks[1].cancelled()
    await asyncio.gather(tasks[0], tasks[2])


def test_thread_ends_with_its_loop() -> None:
    """A program that goes down without closing leaves no thread that fails."""
    recorder = Recorder()
    recorder.may_go.clear()

    async def leave() -> threading.Thread:
        before = set(threading.enumerate())
        writer = lane(recorder)
        [thread] = set(threading.enumerate()) - before
        task = asyncio.create_task(writer.do(lambda _db: None))
        await asyncio.sleep(0)
        task.cancel()
        return thread

    thread = asyncio.run(leave())
    recorder.may_go.set()
    thread.join(10)

    assert not thread.is_alive()
