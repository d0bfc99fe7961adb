"""An event loop for several machines at once, with a clock that we turn: a seed decides the rest.

Each machine is a `Process`. Within one, callbacks run in the order in which they were scheduled, as
asyncio promises; which process has the next turn is drawn. Time passes only when nobody has
anything to do. A process may be frozen (what comes for it piles up) or dead (nothing of it ever
runs again, not even a `finally`). Every callback is a step, and between two steps a machine can
die: that is "at every await". Nothing here knows what the machines do.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any, TypeVar

_T = TypeVar("_T")

_MOST_STEPS = 2_000_000


class Stuck(AssertionError):
    """Nothing is left that could ever happen, or it happens without end."""


class Process:
    """What runs on one machine."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: deque[asyncio.Handle] = deque()
        self.is_frozen = False
        self.fuse = 0
        """After how many steps it blows; 0 for never."""
        self.blow: Callable[[], None] = lambda: None
        self.tasks: list[asyncio.Task[Any]] = []
        """Kept, also when dead: a coroutine that is collected would run its `finally`."""

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Hold a task, and let go of those that are over."""
        self.tasks.append(task)
        if len(self.tasks) % 256 == 0:
            self.tasks = [one for one in self.tasks if not one.done()]


_process: ContextVar[Process | None] = ContextVar("process", default=None)


def current() -> str:
    """Name the machine that has the turn."""
    process = _process.get()
    return "outside" if process is None else process.name


class _Numbered:
    """Hashed by a number, so that a set of these has the same order in every run."""

    number: int

    def __hash__(self) -> int:
        return self.number


class SimTask(_Numbered, asyncio.Task[_T]):
    """A task that knows when it was made."""

    def __init__(self, coro: Coroutine[Any, Any, _T], *, number: int, **options: Any) -> None:  # noqa: ANN401 (asyncio's)
        self.number = number  # first: asyncio puts it into a set while it is being made
        super().__init__(coro, **options)


class SimFuture(_Numbered, asyncio.Future[_T]):
    """A future that knows when it was made."""

    def __init__(self, *, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.number = number
        super().__init__(loop=loop)


class SimLoop(asyncio.AbstractEventLoop):
    """The loop of a whole simulation."""

    def __init__(self, chance: Random) -> None:
        self.outside = Process("outside")
        self.steps = 0
        self.complaints: list[str] = []
        """What asyncio would have logged, such as an exception that nobody looked at."""
        self._chance = chance
        self._alive = [self.outside]
        self._dead: list[Process] = []
        self._moment = 0.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle, Process]] = []
        self._numbers = itertools.count(1)

    # Processes

    def begin(self, process: Process) -> None:
        """Add a machine."""
        self._alive.append(process)

    def context_of(self, process: Process) -> Context:
        """Give a context: what is started in it runs on that machine."""
        context = copy_context()
        context.run(_process.set, process)
        return context

    def start(self, part: Coroutine[Any, Any, Any], process: Process | None = None) -> None:
        """Run something on a machine, or outside; whoever wants its result asks for it there."""
        context = self.context_of(process or self.outside)
        self.create_task(part, context=context).add_done_callback(_look)

    def kill(self, process: Process) -> None:
        """Let nothing of it run any more; what it has sent is on its way."""
        self._alive.remove(process)
        self._dead.append(process)

    # Running

    def run(self, main: Coroutine[Any, Any, _T]) -> _T:
        """Run until this is done."""
        with self._running():
            task: asyncio.Task[_T] = self.create_task(main, context=self.context_of(self.outside))
            while not task.done():
                self._step()
            return task.result()

    def clear_away(self) -> None:
        """End all that was left, dead or alive, after the story: nothing of it counts any more."""
        self._alive += self._dead  # only to end: whatever they waited for says so
        for process in self._alive:
            process.is_frozen, process.fuse = False, 0
        with self._running():
            while left := [one for each in self._alive for one in each.tasks if not one.done()]:
                for task in left:
                    task.cancel()
                for _ in range(200 * len(left)):
                    if not self._timers and not any(each.ready for each in self._alive):
                        break
                    self._step()

    @contextmanager
    def _running(self) -> Iterator[None]:
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            yield
        finally:
            events._set_running_loop(before)

    def _step(self) -> None:
        awake = [one for one in self._alive if one.ready and not one.is_frozen]
        if not awake:
            self._pass_time()
            return
        process = awake[0] if len(awake) == 1 else self._chance.choice(awake)
        handle = process.ready.popleft()
        if handle.cancelled():
            return
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise Stuck(f"it goes on and on, at {self._moment:.3f} s")
        handle._run()
        if process.fuse:
            process.fuse -= 1
            if not process.fuse:
                process.blow()

    def _pass_time(self) -> None:
        """Go to the next moment at which something is due, and make all ready that is."""
        timers = self._timers
        if not timers:
            raise Stuck(f"nothing is left to happen, at {self._moment:.3f} s")
        self._moment = max(self._moment, timers[0][0])
        while timers and timers[0][0] <= self._moment:
            _, _, handle, process = heapq.heappop(timers)
            if not handle.cancelled():
                process.ready.append(handle)

    # What asyncio asks of a loop

    def time(self) -> float:
        """Give the seconds since the beginning."""
        return self._moment

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        """Have it called on the machine that asks, or whose the context is."""
        context = copy_context() if context is None else context
        handle = asyncio.Handle(callback, args, self, context)
        (context.get(_process) or self.outside).ready.append(handle)
        return handle

    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Have it called after so many seconds."""
        return self.call_at(self._moment + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Have it called at a moment."""
        context = copy_context() if context is None else context
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        process = context.get(_process) or self.outside
        heapq.heappush(self._timers, (when, next(self._numbers), timer, process))
        return timer

    def create_future(self) -> asyncio.Future[Any]:
        """Make a future."""
        return SimFuture(number=next(self._numbers), loop=self)

    def create_task(  # type: ignore[override]  # coroutines only
        self,
        coro: Coroutine[Any, Any, _T],
        *,
        name: str | None = None,
        context: Context | None = None,
    ) -> asyncio.Task[_T]:
        """Make a task of the machine that asks, or whose the context is."""
        context = copy_context() if context is None else context
        number = next(self._numbers)
        task = SimTask(coro, number=number, loop=self, name=name, context=context)
        (context.get(_process) or self.outside).keep(task)
        return task

    def run_in_executor(
        self, _executor: object, function: Callable[..., _T], *args: object
    ) -> asyncio.Future[_T]:
        """Run it on the spot: there are no threads here."""
        future: asyncio.Future[_T] = self.create_future()
        try:
            future.set_result(function(*args))
        except Exception as exc:  # noqa: BLE001 (whoever waits gets it)
            future.set_exception(exc)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep what went wrong with nobody there to hear it."""
        self.complaints.append(f"{context.get('message')}: {context.get('exception')!r}")

    def get_debug(self) -> bool:
        """Run as in production."""
        return False

    def is_running(self) -> bool:
        """Be always at it."""
        return True

    def is_closed(self) -> bool:
        """Never be."""
        return False

    def _timer_handle_cancelled(self, _timer: asyncio.TimerHandle) -> None:
        """Leave it in the queue: it is passed over when its time comes."""


def _look(task: asyncio.Task[Any]) -> None:
    """Raise what went wrong with nobody to hear it: the loop keeps it as a complaint."""
    if not task.cancelled():
        task.result()
