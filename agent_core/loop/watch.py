"""A watch over what is done in this very task: it is ended if the thread is stopped meanwhile.

A task of its own is begun only when the log is stirred: most model calls are never disturbed, and
a task costs more than many of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

_Value = TypeVar("_Value")


class Watch:
    """Looks whether the thread was stopped, each time that its log is stirred."""

    def __init__(
        self,
        stirred: Callable[[], asyncio.Future[None]],
        is_stopped: Callable[[], Awaitable[bool]],
    ) -> None:
        """Watch on behalf of the task that makes this; `stirred` says when to look."""
        self._stirred = stirred
        self._is_stopped = is_stopped
        self._task = asyncio.current_task()
        self._waiting: asyncio.Future[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._has_cancelled = False
        self._failure: Exception | None = None

    async def over(self, doing: Awaitable[_Value]) -> _Value | None:
        """Give what it comes to; None if it was ended because the thread was stopped."""
        self._wait()
        try:
            return await doing
        except asyncio.CancelledError:
            if not self._has_cancelled or self._cancelled_by_others():
                raise  # the worker itself is going away
            if self._failure is not None:
                raise self._failure from None
            return None
        finally:
            await self._end()

    def _wait(self) -> None:
        self._waiting = self._stirred()
        self._waiting.add_done_callback(self._look)

    def _look(self, waiting: asyncio.Future[None]) -> None:
        if waiting is self._waiting and not waiting.cancelled():
            self._looking = asyncio.create_task(self._look_again())

    async def _look_again(self) -> None:
        try:
            stopped = await self._is_stopped()
        except Exception as exc:  # noqa: BLE001 (raised where the doing is)
            self._failure, stopped = exc, True
        if self._waiting is None or self._task is None:
            return  # it came to its end meanwhile
        if stopped:
            self._has_cancelled = self._task.cancel()
        else:
            self._wait()

    def _cancelled_by_others(self) -> bool:
        return self._task is not None and self._task.cancelling() > 1

    async def _end(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.cancel()
        if self._has_cancelled and self._task is not None:
            self._task.uncancel()  # also if what was done took no notice
        if self._looking is not None:
            await asyncio.wait([self._looking])
