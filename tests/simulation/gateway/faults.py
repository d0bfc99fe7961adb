"""What goes wrong with machines and servers, at moments that the seed draws."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import TypeAlias

from tests.simulation.gateway.database import Database
from tests.simulation.gateway.machine import Machine
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.outside import Outside
from tests.simulation.gateway.trace import Trace

Act: TypeAlias = Callable[[Machine], Awaitable[None]]


class Faults:
    """Breaks things, and mends them after a while."""

    def __init__(
        self,
        chance: Random,
        machines: Sequence[Machine],
        database: Database,
        outside: Outside,
        trace: Trace,
    ) -> None:
        self._chance = chance
        self._machines = machines
        self._database = database
        self._outside = outside
        self._trace = trace

    async def break_things(self, network: Network) -> None:
        """Break things until cancelled, each kind in its own time."""
        weather = network.weather
        kinds: dict[Act, float] = {
            self._crash: weather.crashes,
            self._freeze: weather.freezes,
            self._jump: weather.jumps,
            self._cut: weather.cuts,
            self._outage: weather.outages,
            self._restart: weather.restarts,
        }
        async with asyncio.TaskGroup() as tasks:
            for act, mean in kinds.items():
                if mean:
                    tasks.create_task(self._again_and_again(act, mean))
            tasks.create_task(self._look_after())

    def heal(self) -> None:
        """Mend everything at once."""
        self._database.is_down = False
        self._outside.down_until.clear()
        for machine in self._machines:
            machine.freeze(is_frozen=False)
            machine.cut(is_cut=False)
            machine.offset_ms = 0
            machine.light(0)
            machine.begin()

    async def _again_and_again(self, act: Act, mean: float) -> None:
        while True:
            await asyncio.sleep(self._chance.expovariate(1 / mean))
            await act(self._chance.choice(self._machines))

    async def _look_after(self) -> None:
        """Begin again what has ended, as a supervisor does."""
        while True:
            await asyncio.sleep(self._chance.uniform(1.0, 25.0))
            for machine in self._machines:
                machine.begin()

    async def _crash(self, machine: Machine) -> None:
        machine.light(self._chance.randint(1, 120))

    async def _freeze(self, machine: Machine) -> None:
        self._trace.fault(machine.name, "frozen")
        machine.freeze(is_frozen=True)
        await asyncio.sleep(self._chance.choice((1.0, 5.0, 15.0, 45.0)))
        machine.freeze(is_frozen=False)

    async def _jump(self, machine: Machine) -> None:
        seconds = self._chance.choice((-90, -15, -1, 1, 15, 90))
        self._trace.fault(machine.name, "clock jumps", f"{seconds} s")
        machine.offset_ms += seconds * 1000
        machine.offset_ms = max(-120_000, min(machine.offset_ms, 120_000))

    async def _cut(self, machine: Machine) -> None:
        self._trace.fault(machine.name, "cut off")
        machine.cut(is_cut=True)
        await asyncio.sleep(self._chance.uniform(1.0, 30.0))
        machine.cut(is_cut=False)

    async def _outage(self, _machine: Machine) -> None:
        which = self._chance.choice(("slack", "email", "callback", "database"))
        self._trace.fault(which, "outage")
        if which == "database":
            self._database.is_down = True
            await asyncio.sleep(self._chance.uniform(1.0, 15.0))
            self._database.is_down = False
        else:
            until = self._chance.uniform(20.0, 120.0)
            self._outside.down_until[which] = asyncio.get_running_loop().time() + until

    async def _restart(self, machine: Machine) -> None:
        self._trace.fault(machine.name, "told to stop")
        machine.stop()
