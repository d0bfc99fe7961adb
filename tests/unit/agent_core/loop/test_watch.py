"""A watch over what is done in this task: ended by a stop, and by nothing else."""

from __future__ import annotations

import asyncio

import pytest

from agent_core.loop.watch import Watch


class Bell:
    """Something that stirs when told, and whether the thread has been stopped."""

    def __init__(self) -> None:
        """Begin quiet."""
        self.stopped: bool | Exception = False
        self.looks = 0
        self._waiting: list[asyncio.Future[None]] = []
        self.looking = asyncio.Event()
        self.sees = asyncio.Event()
        self.sees.set()
        self._looked = asyncio.Event()

    def stirred(self) -> asyncio.Future[None]:
        """Wait for a ring."""
        self._waiting.append(asyncio.get_running_loop().create_future())
        return self._waiting[-1]

    async def is_stopped(self) -> bool:
        """Look."""
        self.looking.set()
        await self.sees.wait()
        self.looks += 1
        self._looked.set()
        if isinstance(self.stopped, Exception):
            raise self.stopped
        return self.stopped

    async def ring(self) -> None:
        """Stir, and wait for the look."""
        self._looked.clear()
        self._waiting[-1].set_result(None)
        await self._looked.wait()

    @property
    def is_let_go(self) -> bool:
        """Whether nobody waits any more."""
        return all(one.done() for one in self._waiting)


class Work:
    """Something that takes until it is let on."""

    def __init__(self, bell: Bell) -> None:
        """Begin it, under a watch, in a task of its own."""
        self.bell = bell
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.cut_off = False
        self.task = asyncio.create_task(self._watched())

    async def _watched(self) -> str | None:
        return await Watch(self.bell.stirred, self.bell.is_stopped).over(self._do())

    async def _do(self) -> str:
        self.begun.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cut_off = True
            raise
        return "done"


async def begun() -> tuple[Bell, Work]:
    """Begin some work."""
    bell = Bell()
    work = Work(bell)
    await work.begun.wait()
    return bell, work


async def test_undisturbed_work_comes_to_its_end() -> None:
    """Nobody looks, and nobody goes on waiting for a stir."""
    bell, work = await begun()
    work.go_on.set()

    assert await work.task == "done"
    assert (bell.looks, bell.is_let_go) == (0, True)


async def test_stir_that_is_no_stop_leaves_the_work_alone() -> None:
    """Each is looked at."""
    bell, work = await begun()
    await bell.ring()
    await bell.ring()
    work.go_on.set()

    assert await work.task == "done"
    assert (bell.looks, work.cut_off) == (2, False)


async def test_stop_ends_the_work_and_the_task_goes_on() -> None:
    """It is no cancellation of the worker."""
    bell, work = await begun()
    bell.stopped = True
    await bell.ring()

    assert await work.task is None
    assert work.cut_off
    assert work.task.cancelling() == 0


async def test_cancelled_worker_is_cancelled_whoever_else_says_stop() -> None:
    """Both at once: the worker goes away."""
    bell, work = await begun()
    bell.stopped = True
    await bell.ring()
    work.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work.task


async def test_work_that_takes_no_notice_keeps_its_result() -> None:
    """And the task is not left half cancelled."""
    bell = Bell()

    async def deaf() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "so what"
        return ""

    async def watched() -> tuple[str | None, int]:
        result = await Watch(bell.stirred, bell.is_stopped).over(deaf())
        await asyncio.sleep(0)
        task = asyncio.current_task()
        return result, task.cancelling() if task else -1

    task = asyncio.create_task(watched())
    await asyncio.sleep(0)
    bell.stopped = True
    await bell.ring()

    assert await task == ("so what", 0)


async def test_look_that_fails_ends_the_work_with_its_error() -> None:
    """Nobody may go on who can't find out whether he should."""
    bell, work = await begun()
    bell.stopped = OSError("no store")
    await bell.ring()
    with pytest.raises(OSError, match="no store"):
        await work.task


async def test_stop_that_comes_with_the_end_changes_nothing() -> None:
    """The look takes longer than the work."""
    bell, work = await begun()
    bell.stopped = True
    bell.sees.clear()
    ringing = asyncio.create_task(bell.ring())
    await bell.looking.wait()
    work.go_on.set()
    await asyncio.sleep(0)
    bell.sees.set()
    await ringing

    assert await work.task == "done"
    assert not work.cut_off
