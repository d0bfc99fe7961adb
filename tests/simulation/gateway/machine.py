"""A machine: the gateway's real parts, put together as `gateway.server` does, on simulated wires.

It can be killed (nothing of it ever runs again), frozen, set to another time, cut off from the
database, or told to stop in good order. Begun again, it knows only what the database knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, cast

from agent_core import Agent
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from channels.channel import Channel
from channels.event.channel import EventChannel
from channels.inbound import Inbound, Message
from channels.intake import Gatehouse, Received
from channels.web.channel import WebChannel
from channels.webhook.channel import WebhookChannel
from gateway.control.desk import ChannelDesk
from gateway.control.local import LocalGateway
from gateway.control.memory import SealedMemory
from gateway.control.service import TooBusy
from gateway.intake.channel_intake import ChannelIntake
from gateway.outbox.sender import Sender, SenderOptions
from gateway.people.directory import Directory
from gateway.people.naming import Naming
from gateway.people.routing import Routing
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import Engine, EngineOptions
from gateway.work.sweeping import sweep_for_ever
from storage.errors import StoreError
from storage.store import Store
from tests.simulation.gateway.agent import NAME
from tests.simulation.gateway.channels import make_channels
from tests.simulation.gateway.database import SECRET, Database, Link
from tests.simulation.gateway.loop import Process, SimLoop
from tests.simulation.gateway.mutations import Mutation
from tests.simulation.gateway.network import Network
from tests.simulation.gateway.outside import Outside
from tests.simulation.gateway.trace import Trace

START = Millis(1_767_225_600_000)  # 2026-01-01 00:00 UTC
Role = Literal["all", "web", "worker"]
_NEVER = 1e9


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What all machines stand on."""

    loop: SimLoop
    chance: Random
    network: Network
    database: Database
    outside: Outside
    trace: Trace
    agent: Agent
    people: Directory
    mutation: Mutation
    lease_ms: int
    poll_seconds: float
    at_once: int
    ids: dict[str, int]
    wrong: list[str]

    def new_id(self, prefix: str) -> str:
        """Count up: nobody has to guess here."""
        self.ids[prefix] = self.ids.get(prefix, 0) + 1
        return f"{prefix}_{self.ids[prefix]}"


class Machine:
    """One of them, through all its lives."""

    def __init__(self, ground: Ground, name: str, role: Role) -> None:
        self.name = name
        self.role = role
        self.offset_ms = 0
        self.is_up = False
        self.is_open = False
        """Whether it takes what comes in."""
        self._ground = ground
        self._process = Process(name)
        self.link = Link(ground.database, name, ground.mutation)
        self._stop: asyncio.Event | None = None

    def now(self) -> Millis:
        """Give what this machine's clock says."""
        return Millis(START + round(self._ground.loop.time() * 1000) + self.offset_ms)

    def _seconds(self) -> float:
        return self.now() / 1000

    # Its lives

    def begin(self) -> None:
        """Start the server."""
        if self.is_up:
            return
        self.is_up = True
        self._process = Process(self.name)
        self._process.blow = self.kill
        self._ground.loop.begin(self._process)
        self._ground.trace.note(self.name, "begins")
        self.run(self._serve())

    def run(self, part: Coroutine[Any, Any, Any]) -> None:
        """Run something on this machine."""
        self._ground.loop.start(part, self._process)

    def kill(self) -> None:
        """End it at once, as `kill -9` does."""
        if self.is_up:
            self.is_up = self.is_open = False
            self._ground.loop.kill(self._process)
            self._ground.trace.fault(self.name, "killed")

    def light(self, steps: int) -> None:
        """Have it killed after so many steps from now."""
        self._process.fuse = steps

    def freeze(self, *, is_frozen: bool) -> None:
        """Stop it as SIGSTOP does, or let it go on."""
        self._process.is_frozen = is_frozen

    @property
    def is_frozen(self) -> bool:
        """Whether it is stopped."""
        return self._process.is_frozen

    async def receive(self, inbound: Inbound) -> Received:
        """Take what a channel brings."""
        if self._ground.mutation.acknowledges_early and isinstance(inbound, Message):
            self.run(_quietly(self.intake.receive(inbound)))
            return Received(effect="taken")
        return await self.intake.receive(inbound)

    def stop(self) -> None:
        """Ask it to end in good order."""
        if self._stop is not None:
            self._stop.set()

    def cut(self, *, is_cut: bool) -> None:
        """Take the database away, or give it back."""
        self.link.is_cut = is_cut

    # The server

    async def _serve(self) -> None:
        ground, self._stop = self._ground, asyncio.Event()
        stop = self._stop
        self.link = Link(ground.database, self.name, ground.mutation)
        self.link.hear()
        store = cast("Store", self.link)
        hints, nearby = Hints(store), Nearby()
        channels = self._channels()
        routing = Routing(ground.people, frozenset(channels))
        world = self._world()
        agents = {NAME: ground.agent}
        self.gateway = LocalGateway(
            store, agents, hints, world=world, nearby=nearby, routing=routing
        )
        routes = dict.fromkeys(("slack", "email"), NAME)
        self.intake = ChannelIntake(
            self.gateway, store, ground.people, routes, channels=channels, world=world
        )
        try:
            await self._open(channels, store, world)
        except StoreError:
            self._exit("can't start")
            return
        parts: list[Coroutine[Any, Any, None]] = [hints.run()]
        if self.role != "web":
            parts += self._work(store, channels, hints, nearby, routing)
        await self._run_until(stop, parts)
        self._exit("stopped")

    async def _run_until(self, stop: asyncio.Event, parts: list[Coroutine[Any, Any, None]]) -> None:
        """Run the parts until told to stop, or until one breaks; then end them in reverse."""
        tasks = [asyncio.create_task(part) for part in parts]
        for task in tasks:
            task.add_done_callback(lambda _task: stop.set())
        await stop.wait()
        self.is_open = False
        for task in reversed(tasks):
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled() and task.exception() is not None:
                self._ground.wrong.append(f"a part of {self.name} broke: {task.exception()!r}")

    def _exit(self, how: str) -> None:
        """Be gone; whoever looks after machines begins it again."""
        self.is_up = self.is_open = False
        self._ground.loop.kill(self._process)
        self._ground.trace.note(self.name, how)

    def _world(self) -> World:
        ground = self._ground
        return World(
            now=self.now,
            new_id=ground.new_id,
            random=ground.chance.random,
            check_audience=Naming(ground.people).check,
        )

    def _channels(self) -> dict[str, Channel]:
        ground = self._ground
        self.events = EventChannel(clock=self._seconds)
        hooks = WebhookChannel((), events=self.events, clock=self._seconds)
        simulated = make_channels(
            self.name, ground.outside, ground.network, ground.chance, ground.mutation
        )
        made: list[Channel] = [WebChannel(), self.events, hooks, *simulated]
        return {one.name: one for one in made}

    async def _open(self, channels: dict[str, Channel], store: Store, world: World) -> None:
        for name, channel in channels.items():
            desk = ChannelDesk(store, self._ground.people, name, world=world)
            memory = SealedMemory(store, name, SECRET, world=world)
            await channel.start(Gatehouse(intake=self.intake, desk=desk, memory=memory))
        self.is_open = self.role != "worker"

    def _work(
        self,
        store: Store,
        channels: dict[str, Channel],
        hints: Hints,
        nearby: Nearby,
        routing: Routing,
    ) -> list[Coroutine[Any, Any, None]]:
        ground, world = self._ground, self._world()
        poll = _NEVER if ground.mutation.never_polls else ground.poll_seconds
        lease = ground.lease_ms
        sender = Sender(
            store,
            channels,
            hints,
            people=ground.people,
            world=world,
            options=SenderOptions(
                lease_ms=2 * lease,
                timeout_seconds=lease / 1000,
                poll_seconds=poll,
                at_once=ground.at_once,
            ),
            nearby=nearby,
        )
        engine = Engine(
            store,
            {NAME: ground.agent},
            hints,
            world=world,
            options=EngineOptions(
                lease_ms=lease, poll_seconds=poll, at_once=ground.at_once, drain_seconds=8
            ),
            nearby=nearby,
            routing=routing,
        )
        sweeping = sweep_for_ever(store, world=world, every_seconds=60)
        return [sender.run(), engine.run(), sweeping]


async def _quietly(taking: Coroutine[Any, Any, Received]) -> None:
    with suppress(StoreError, TooBusy):
        await taking
