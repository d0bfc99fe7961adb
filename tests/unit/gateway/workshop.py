"""What the tests of the engine share: a store that can be made to fail, and engines on it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agent_core import Agent
from agent_core.loop.world import World
from agent_core.thread.events import Event, Millis, ThreadId
from channels.channel import Live
from gateway.control.local import LocalGateway
from gateway.control.views import Launch, ThreadView
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import Engine, EngineOptions
from storage.errors import StoreBusy
from storage.memory import MemoryStore
from storage.memory.tables import MemoryTables
from storage.store import Store
from storage.values import Claim, Commit, CommitResult, Loaded, ThreadRow

QUICK = EngineOptions(at_once=16, lease_ms=3_000, poll_seconds=0.01, drain_seconds=5)
NO_HURRY = 100  # seconds: whoever waits for this one in a test fails


class ShakyStore(MemoryStore):
    """A store that counts what it is asked, and fails when told to."""

    def __init__(self, tables: MemoryTables | None = None) -> None:
        """Begin sound."""
        super().__init__(tables)
        self.asked: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        """How often each method still fails."""
        self.frozen: set[str] = set()
        """Which methods fail for as long as they are in here."""
        self.error: Callable[[], Exception] = lambda: StoreBusy("busy", retry_after=0)
        self._moved = asyncio.Event()

    def _come(self, name: str) -> None:
        self.asked[name] += 1
        self._moved.set()
        if self.failures[name] > 0:
            self.failures[name] -= 1
            raise self.error()
        if name in self.frozen:
            raise self.error()

    async def asked_again(self, name: str, times: int) -> None:
        """Wait until a method has been called so many times more."""
        wanted = self.asked[name] + times
        async with asyncio.timeout(10):
            while self.asked[name] < wanted:
                self._moved.clear()
                await self._moved.wait()

    async def commit(self, commit: Commit) -> CommitResult:
        """Write, or fail."""
        self._come("commit" if commit.epoch is None else "commit work")
        return await super().commit(commit)

    async def claim(
        self, *, now: Millis, lease_ms: int, limit: int, leave: Collection[ThreadId] = ()
    ) -> list[Claim]:
        """Claim, or fail."""
        self._come("claim")
        return await super().claim(now=now, lease_ms=lease_ms, limit=limit, leave=leave)

    async def renew(self, claims: Sequence[Claim], *, now: Millis, lease_ms: int) -> list[Claim]:
        """Renew, or fail."""
        self._come("renew")
        return await super().renew(claims, now=now, lease_ms=lease_ms)

    async def release(self, claim: Claim, *, handled_seq: int, wake_at: Millis | None) -> bool:
        """Release, or fail."""
        self._come("release")
        return await super().release(claim, handled_seq=handled_seq, wake_at=wake_at)

    async def load(self, thread: ThreadId, *, after: int | None = None) -> Loaded | None:
        """Load, or fail."""
        self._come("load")
        return await super().load(thread, after=after)

    async def halted(self) -> str:
        """Look at the kill switch, or fail."""
        self._come("halted")
        return await super().halted()


class Machine:
    """An engine that was started."""

    def __init__(self, engine: Engine) -> None:
        """Start it."""
        self.task = asyncio.create_task(engine.run())


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something is so that sends no word of it."""
    async with asyncio.timeout(10):
        while True:
            if holds():
                return
            await asyncio.sleep(0.002)


class Workshop:
    """A gateway on a store, and as many engines as a test wants."""

    def __init__(
        self,
        store: Store,
        agents: Sequence[Agent],
        world: World | None,
        routing: Routing = ORIGIN_ONLY,
    ) -> None:
        """Put the gateway on the store."""
        self.store = store
        self.agents = {agent.name: agent for agent in agents}
        self.world = world
        self.hints = Hints(store)
        self.nearby = Nearby()
        self.routing = routing
        self.gateway = LocalGateway(
            store, self.agents, self.hints, world=world, nearby=self.nearby, routing=routing
        )
        self._tasks: list[asyncio.Task[None]] = []

    def listen(self) -> None:
        """Pass hints on; without this, they are lost."""
        self._tasks.append(asyncio.create_task(self.hints.run()))

    def engine(
        self,
        options: EngineOptions = QUICK,
        store: Store | None = None,
        nearby: Nearby | None = None,
        live: Mapping[str, Live] | None = None,
    ) -> Machine:
        """Start an engine; on another store with the same tables it hears no hints.

        It is as in another process, and nothing is handed to it, unless it gets our `nearby`.
        """
        hints = self.hints if store is None else Hints(store)
        machine = Machine(
            Engine(
                store or self.store,
                self.agents,
                hints,
                world=self.world,
                options=options,
                nearby=nearby,
                live=live,
                routing=self.routing,
            )
        )
        self._tasks.append(machine.task)
        return machine

    async def launch(self, text: str = "hello", agent: str = "agent") -> ThreadId:
        """Begin a thread."""
        view, _ = await self.gateway.launch(Launch(agent=agent, text=text), by="lisa")
        return ThreadId(view.id)

    async def rested(self, thread: ThreadId) -> ThreadView:
        """Wait until a thread rests, however deaf the house is."""
        async with asyncio.timeout(10):
            while True:
                view = await self.gateway.wait(thread, seconds=0.02)
                if view.status not in {"queued", "running"}:
                    return view

    async def released(self, thread: ThreadId) -> ThreadRow:
        """Wait until nobody holds a thread, and give its row."""
        async with asyncio.timeout(10):
            while True:
                row = await self.store.thread(thread)
                assert row is not None
                if row.lease_until is None:
                    return row
                await asyncio.sleep(0.005)

    async def log(self, thread: ThreadId) -> list[Event]:
        """Read a whole log."""
        return await self.gateway.log(thread)

    async def names(self, thread: ThreadId) -> list[str]:
        """Name a thread's events."""
        return [type(event).__name__ for event in await self.log(thread)]

    async def close(self) -> None:
        """Stop everything that was started."""
        for task in reversed(self._tasks):
            await stop(task)


async def stop(task: asyncio.Task[Any]) -> None:
    """Stop a part in order, and raise what broke it."""
    task.cancel()
    await asyncio.wait([task], timeout=20)
    if not task.cancelled():
        task.result()


@asynccontextmanager
async def workshop(
    store: Store,
    *agents: Agent,
    world: World | None = None,
    deaf: bool = False,
    routing: Routing = ORIGIN_ONLY,
) -> AsyncIterator[Workshop]:
    """Open a workshop without an engine; `deaf` loses every hint."""
    await store.open()
    opened = Workshop(store, agents, world, routing)
    if not deaf:
        opened.listen()
    try:
        yield opened
    finally:
        await opened.close()
        await store.close()
