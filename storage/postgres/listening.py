"""Hints from other processes: one connection that listens, and is made anew when it breaks.

What was said while it was broken is lost. So after each new connection everybody is told to look.
LISTEN needs a session of its own: behind pgbouncer, that is session mode.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from storage.hints import DELIVERIES, HALT, Hints
from storage.postgres.saying import ANY, read_hints
from storage.values import Hint

CHANNEL = "parley"

_CHECK_EACH_S = 15.0
"""A connection that a firewall dropped looks alive until something is sent on it."""
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0

_log = logging.getLogger(__name__)


class Listening:
    """The task that listens, for as long as the store is open."""

    def __init__(
        self, connect: Callable[[], Awaitable[Any]], hints: Hints, *, own_voice: str = ""
    ) -> None:
        """Take what makes a connection, whom to tell, and whose notifications are our own."""
        self._connect = connect
        self._own_voice = own_voice
        self._hints = hints
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen from now on."""
        heard_ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(heard_ready), name="postgres hints")
        await heard_ready

    async def stop(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self._hints.end()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        pause = _FIRST_PAUSE_S
        while True:
            try:
                await self._listen(ready)
                pause = _FIRST_PAUSE_S
            except Exception as error:  # noqa: BLE001 (who listens no more would never be missed)
                _log.warning("no hints from PostgreSQL for now: %s", error)
            if not ready.done():
                ready.set_result(None)  # hints can be late; the store works without them
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _listen(self, ready: asyncio.Future[None]) -> None:
        """Listen until the connection breaks."""
        connection = await self._connect()
        broken = asyncio.Event()
        connection.add_termination_listener(lambda _connection: broken.set())
        try:
            await connection.add_listener(CHANNEL, self._hear)
            if ready.done():
                self._hints.tell([Hint(ANY, 0), Hint(DELIVERIES, 0), HALT])
            else:
                ready.set_result(None)
            while not await _is_set_within(broken, _CHECK_EACH_S):
                await connection.execute("SELECT 1")
        except Exception as exc:  # noqa: BLE001 (whatever it is, the answer is another connection)
            _log.warning("the connection for hints broke: %s", exc)
        finally:
            connection.terminate()

    def _hear(self, _connection: object, _pid: int, _channel: str, payload: str) -> None:
        self._hints.tell(read_hints(payload, voice=self._own_voice))


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
