"""The engine: claims threads that are due, brings each to rest, and lets go.

Many threads at once, one worker for each. Leases are renewed by a task of their own, whatever the
tools do; a lease that is lost ends its run, and nothing that the run still does is kept. Hints
make it quick; a slow poll makes it sure.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from agent_core.agent.agent import Agent
from agent_core.errors import ToolsChanged
from agent_core.loop.deploys import require_same_tools
from agent_core.loop.run import Run
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadFailed, ThreadId
from agent_core.thread.timers import due
from gateway.consequences import wake_at
from gateway.hints import ANY, Hints, heard_or_later
from gateway.journal import StoreJournal
from gateway.threads import keep_snapshot, read_thread
from storage.errors import Fenced, IdTaken, StoreError
from storage.store import Store
from storage.values import Claim, Hint

_log = logging.getLogger("parley.engine")

_AGENT_BACK_MS = 60_000
"""How often to look whether a deploy has brought back an agent whose calls are to be undone."""


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """How many threads at once, and how long a lease lasts."""

    at_once: int = 64
    lease_ms: int = 30_000
    poll_seconds: float = 1.0
    drain_seconds: float = 18.0


class Engine:
    """Runs this process's share of the threads."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Agent],
        hints: Hints,
        *,
        world: World | None = None,
        options: EngineOptions | None = None,
    ) -> None:
        self._store = store
        self._agents = agents
        self._hints = hints
        self._options = options or EngineOptions()
        self._world = replace(world or World(), halted=lambda: self._halted)
        self._halted = ""
        self._halt_moved = False
        self._draining = False
        self._journals: dict[ThreadId, StoreJournal] = {}
        self._claims: dict[ThreadId, Claim] = {}
        self._runs: dict[ThreadId, asyncio.Task[None]] = {}
        self._heard: dict[ThreadId, int] = {}
        """What was hinted at while a thread was being read, before its journal could hear."""
        self._look = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled; then drain: finish what can't be stopped, give leases back."""
        await self._read_halt()
        with self._hints.listening(ANY, self._hear):
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._claim_for_ever(), name="engine: claim")
                    tasks.create_task(self._renew_for_ever(), name="engine: renew")
            finally:
                await self._drain()

    def _hear(self, hint: Hint) -> None:
        thread = ThreadId(hint.topic)
        if thread in self._journals:
            self._journals[thread].stir(hint.seq)
        elif thread in self._runs:
            self._heard[thread] = hint.seq
        elif hint.topic != "deliveries":
            self._halt_moved = self._halt_moved or hint.topic in ("halt", ANY)
            self._look.set()
        if hint.topic == ANY:
            self._stir_all()

    # Claiming

    async def _claim_for_ever(self) -> None:
        while True:
            try:
                if self._halt_moved:
                    await self._read_halt()
                more = not self._halted and await self._claim()
            except StoreError:
                _log.exception("claim failed")
                more = False
            if not more and not await heard_or_later(self._look, self._options.poll_seconds):
                self._halt_moved = True  # hints can be lost: look for oneself now and then

    async def _claim(self) -> bool:
        """Claim what there is room for; tell whether there may be more."""
        room = self._options.at_once - len(self._runs)
        if room <= 0:
            return False
        claiming = asyncio.ensure_future(
            self._store.claim(now=self._world.now(), lease_ms=self._options.lease_ms, limit=room)
        )
        try:
            claims = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the store may have leased them all the same
            await self._give_back(await claiming)
            raise
        for claim in claims:
            self._start(claim)
        return len(claims) == room

    def _start(self, claim: Claim) -> None:
        before = self._runs.get(claim.thread)  # its lease ran out, unrenewed, while it worked
        run = asyncio.create_task(self._advance(claim, before), name=f"thread {claim.thread}")
        self._claims[claim.thread] = claim
        self._runs[claim.thread] = run
        run.add_done_callback(partial(self._forget, claim.thread))

    def _forget(self, thread: ThreadId, run: asyncio.Task[None]) -> None:
        if len(self._runs) >= self._options.at_once or thread in self._heard:
            self._look.set()  # there is room again, or something came in the last moment
        if self._runs.get(thread) is run:
            del self._runs[thread]
            self._claims.pop(thread, None)
            self._journals.pop(thread, None)
            self._heard.pop(thread, None)

    async def _read_halt(self) -> None:
        self._halt_moved = False
        halted = await self._store.halted()
        if halted != self._halted and not self._draining:
            self._halted = halted
            self._stir_all()

    def _stir_all(self) -> None:
        for journal in self._journals.values():
            journal.stir()

    # Leases

    async def _renew_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._options.lease_ms / 3000)
            with suppress(StoreError):
                await self._read_halt()
                if self._claims:
                    await self._renew()

    async def _renew(self) -> None:
        mine = list(self._claims.values())
        kept = await self._store.renew(mine, now=self._world.now(), lease_ms=self._options.lease_ms)
        held = {claim.thread: claim for claim in kept}
        for claim in mine:
            if self._claims.get(claim.thread) is not claim:
                continue  # let go meanwhile, or even claimed anew
            if claim.thread not in held:
                self._lose(claim.thread)
            elif claim.thread in self._journals:
                self._journals[claim.thread].stir(held[claim.thread].seq)

    def _lose(self, thread: ThreadId) -> None:
        """Stop at once: somebody else has the thread, or will."""
        _log.warning("lease lost", extra={"thread_id": thread})
        run = self._runs.get(thread)
        if run is not None:
            run.cancel()

    # One thread

    async def _advance(self, claim: Claim, before: asyncio.Task[None] | None = None) -> None:
        try:
            if before is not None:
                before.cancel()
                await asyncio.wait([before])
                self._journals.pop(claim.thread, None)
            await self._bring_to_rest(claim)
        except Fenced:
            _log.warning("fenced", extra={"thread_id": claim.thread})
        except StoreError:
            _log.exception("store failed", extra={"thread_id": claim.thread})
        except Exception:  # noqa: BLE001 (our bug: it must not take the others down; the lease runs out)
            _log.exception("advance failed", extra={"thread_id": claim.thread})

    async def _bring_to_rest(self, claim: Claim) -> None:
        found = await read_thread(self._store, claim.thread)
        if found is None:
            return
        journal = StoreJournal(self._store, found.state, claim.epoch, self._world.now)
        self._journals[claim.thread] = journal
        journal.stir(self._heard.pop(claim.thread, 0))
        await self._fire_timers(journal)
        await self._run_agent(journal)
        await keep_snapshot(self._store, journal.state, found.snapshot_seq)
        await self._let_go(claim, journal)

    async def _fire_timers(self, journal: StoreJournal) -> None:
        events = due(journal.state, self._world.now())
        if events:
            await journal.append(events)

    async def _run_agent(self, journal: StoreJournal) -> None:
        state = journal.state
        agent = self._agents.get(state.agent)
        if agent is None:
            if state.lifecycle == "active":
                await self._fail(journal, f"there is no agent {state.agent!r} any more")
            return
        try:
            if state.lifecycle == "active":
                require_same_tools(agent.definition, state)
        except ToolsChanged as exc:
            await self._fail(journal, str(exc))
            return
        try:
            await Run(agent.definition, journal, state, self._world).to_rest()
        except IdTaken as exc:  # a tool chose the id of its question, and so did another thread's
            await self._fail(journal, str(exc))

    async def _fail(self, journal: StoreJournal, error: str) -> None:
        await journal.append([ThreadFailed(at=self._world.now(), error=error)])

    async def _let_go(self, claim: Claim, journal: StoreJournal) -> None:
        state = journal.state
        # Due now if it was halted half-way; else at its next timer.
        now = self._world.now()
        due_at = wake_at(state, now)
        if due_at == now and state.agent not in self._agents:
            due_at = Millis(now + _AGENT_BACK_MS)  # it was cancelled: who could undo it is gone
        grown = await self._store.release(claim, handled_seq=state.seq, wake_at=due_at)
        if grown:
            self._look.set()  # the hint may go to the journal that ends here

    # The end

    async def _drain(self) -> None:
        """Start nothing more, let end what can't be stopped, and give the rest back."""
        self._draining = True
        self._halted = "the server is stopping"
        self._stir_all()
        runs = dict(self._runs)
        if runs:
            with suppress(StoreError):
                await self._renew()  # so that the leases outlast the draining
            _, late = await asyncio.wait(runs.values(), timeout=self._options.drain_seconds)
            cut_off = [self._claims[thread] for thread, run in runs.items() if run in late]
            for run in late:
                run.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            await self._give_back(cut_off)

    async def _give_back(self, claims: list[Claim]) -> None:
        """Let others go on at once with what was cut off; nothing of it was handled."""
        with suppress(StoreError):
            for claim in claims:
                await self._store.release(claim, handled_seq=claim.seq, wake_at=self._world.now())
