"""Couriers: bring what people and programs send to some machine, at least once.

Slack, mail and whoever calls an API do the same: they try a machine, and if it does not answer in
time, or says that it could not, they try again, perhaps another one. What was acknowledged may
come once more, because the acknowledgement was lost. What is acknowledged is kept here, to be held
against what the logs say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from agent_core.errors import ParleyError, Refused
from channels.inbound import Inbound
from channels.intake import Received
from gateway.control.service import IdempotencyConflict, NotFound, TooBusy
from storage.errors import StoreError
from tests.simulation.gateway.loop import SimLoop
from tests.simulation.gateway.machine import Machine
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.trace import Trace

Ask: TypeAlias = Callable[[Machine], Awaitable[Any]]
_PATIENCE = 15.0


@dataclass
class Parcel:
    """Something that was sent, and what was said of it each time."""

    token: str
    inbound: Inbound | None = None
    by: str = ""
    acknowledged: list[Any] = field(default_factory=list)
    tries: int = 0

    @property
    def was_taken(self) -> bool:
        """Whether somebody was told that it counts."""
        return any(_is_taken(one) for one in self.acknowledged)


def _is_taken(one: object) -> bool:
    if isinstance(one, Received):
        return one.effect in {"taken", "copy"}
    return not isinstance(one, Exception)


class Courier:
    """Brings things in."""

    def __init__(
        self,
        loop: SimLoop,
        network: Network,
        chance: Random,
        trace: Trace,
        machines: Sequence[Machine],
    ) -> None:
        self.parcels: list[Parcel] = []
        self.under_way = 0
        self._loop = loop
        self._network = network
        self._chance = chance
        self._trace = trace
        self._machines = machines

    async def bring(self, inbound: Inbound, token: str, *, most: int = 1_000) -> Parcel:
        """Bring it until somebody acknowledges it, or `most` times; perhaps once more."""
        parcel = Parcel(token, inbound, inbound.actor.id)
        self.parcels.append(parcel)
        await self._until_acknowledged(parcel, lambda one: _receive(one, inbound), most)
        while self._chance.random() < self._network.weather.copies:
            self._trace.fault("courier", "copy", token)
            await asyncio.sleep(self._chance.expovariate(1 / 5.0))
            await self._until_acknowledged(parcel, lambda one: _receive(one, inbound), 1)
        return parcel

    async def ask(self, token: str, ask: Ask, *, by: str = "", most: int = 1_000) -> Parcel:
        """Ask something of the API until it answers; `ask` must bear being repeated."""
        parcel = Parcel(token, by=by)
        self.parcels.append(parcel)
        await self._until_acknowledged(parcel, ask, most)
        return parcel

    async def _until_acknowledged(self, parcel: Parcel, ask: Ask, most: int) -> None:
        self.under_way += 1
        try:
            for _ in range(most):
                parcel.tries += 1
                said = await self._try(ask)
                if said is not None:
                    parcel.acknowledged.append(said)
                    self._trace.note("courier", "acknowledged", f"{parcel.token} {_short(said)}")
                    return
                await asyncio.sleep(self._chance.uniform(0.5, 6.0))
        finally:
            self.under_way -= 1

    async def _try(self, ask: Ask) -> Any | None:  # noqa: ANN401 (whatever they ask for)
        """Ask one machine; None if nobody answers, or not now."""
        open_ = [one for one in self._machines if one.is_open]
        await asyncio.sleep(self._chance.uniform(0.001, 0.05))
        if not open_:
            return None
        machine = self._chance.choice(open_)
        if not machine.is_up:
            return None
        answer: asyncio.Future[Any] = self._loop.create_future()
        machine.run(self._answer(ask, machine, answer))
        await asyncio.wait([answer], timeout=_PATIENCE)
        is_lost = self._chance.random() < self._network.weather.posts_lost
        if not answer.done() or is_lost:
            return None
        return answer.result()

    async def _answer(self, ask: Ask, machine: Machine, answer: asyncio.Future[Any]) -> None:
        """Do it on the machine; what it raises is an answer, too, if it is meant for a caller."""
        try:
            said = await ask(machine)
        except (StoreError, TooBusy):
            said = None  # not now
        except (Refused, NotFound, IdempotencyConflict) as exc:
            said = exc
        if not answer.done():
            answer.set_result(said)


async def _receive(machine: Machine, inbound: Inbound) -> Received:
    return await machine.receive(inbound)


def _short(said: object) -> str:
    if isinstance(said, Received):
        return f"{said.effect} {said.thread}"
    return type(said).__name__ if isinstance(said, ParleyError) else "ok"
