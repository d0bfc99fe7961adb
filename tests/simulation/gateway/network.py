"""The wires between machines, the database and the outside: slow, lossy, and out of order.

A call goes there, has its effect, and comes back; each way takes its time, so two calls may pass
each other. It may be lost on the way there (no effect) or on the way back: then it has had its
effect, and whoever asked does not know. The request of a machine that dies is on its way already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from random import Random
from typing import TypeVar

from tests.simulation.gateway.loop import SimLoop
from tests.simulation.gateway.trace import Trace
from tests.simulation.gateway.weather import Weather

_T = TypeVar("_T")


class Network:
    """All wires, under one weather."""

    def __init__(self, loop: SimLoop, chance: Random, weather: Weather, trace: Trace) -> None:
        self.weather = weather
        self.is_gone = False
        """After the story: nobody is there any more."""
        self._loop = loop
        self._chance = chance
        self._trace = trace
        self._outside = loop.context_of(loop.outside)

    async def call(
        self,
        who: str,
        what: str,
        act: Callable[[], _T],
        *,
        loses: float,
        error: Callable[[str], Exception],
    ) -> _T:
        """Have something done at the other end, and give what it gave."""
        if self.is_gone:
            raise error("everything is over")
        answer: asyncio.Future[_T] = self._loop.create_future()
        here, luck = copy_context(), self._chance.random()
        is_lost, comes_back = luck < loses, luck < loses / 2

        def arrive() -> None:
            if is_lost and not comes_back:
                self._trace.fault(who, f"{what.partition(' ')[0]} lost before")
                later(error("no answer"))
                return
            try:
                given = act()
            except Exception as exc:  # noqa: BLE001 (whoever asked gets it)
                later(exc)
                return
            if is_lost:
                self._trace.fault(who, f"{what.partition(' ')[0]} lost after")
                later(error("no answer"))
            else:
                self._loop.call_later(self._delay(), _tell, answer, given, None, context=here)

        def later(exc: Exception) -> None:
            wait = self._chance.uniform(0.5, 5.0) if is_lost else self._delay()
            self._loop.call_later(wait, _tell, answer, None, exc, context=here)

        self._loop.call_later(self._delay(), arrive, context=self._outside)
        return await answer

    def later(self, seconds: float, act: Callable[[], object]) -> None:
        """Have something happen outside, after a while."""
        self._loop.call_later(seconds, act, context=self._outside)

    def _delay(self) -> float:
        if self._chance.random() < self.weather.store_slow:
            return self._chance.uniform(0.05, 4.0)
        return self._chance.uniform(0.0002, 0.004)


def _tell(answer: asyncio.Future[_T], given: _T, exc: Exception | None) -> None:
    if answer.done():  # whoever asked has given up
        return
    if exc is not None:
        answer.set_exception(exc)
    else:
        answer.set_result(given)
