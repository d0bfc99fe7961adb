"""One worker's turn at a thread: from a lease to the moment when nothing is left to do.

The engine decides which threads get a turn, and when; the loop does what is to be done in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from agent_core.agent.agent import Agent
from agent_core.errors import ToolsChanged
from agent_core.loop.deploys import require_same_tools
from agent_core.loop.journal import Overtaken
from agent_core.loop.run import Run
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadFailed
from agent_core.thread.state import ThreadState
from agent_core.thread.steps import Wait, next_step
from channels.channel import Live
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.nearby import Nearby
from gateway.shortcuts.states import Known
from gateway.work.consequences import wake_at
from gateway.work.journal import StoreJournal
from gateway.work.threads import keep_snapshot, read_thread
from storage.errors import IdTaken
from storage.store import Store
from storage.values import Claim

_AGENT_BACK_MS = 60_000
"""How often to look whether a deploy has brought back an agent whose calls are to be undone."""


class Turns:
    """Brings threads to rest, one at a time or many."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Agent],
        world: World,
        nearby: Nearby,
        live: Mapping[str, Live],
        *,
        routing: Routing = ORIGIN_ONLY,
    ) -> None:
        self._store = store
        self._agents = agents
        self._world = world
        self._nearby = nearby
        self._live = live
        self._routing = routing

    async def read(self, claim: Claim) -> Known | None:
        """Give the thread as it is: what is remembered will do, if it is of that very event."""
        known = self._nearby.states.get(claim.thread)
        if known is not None and known.state.seq == claim.seq:
            return known
        return await read_thread(self._store, claim.thread)

    def journal(self, claim: Claim, known: Known) -> StoreJournal:
        """Give the log of a thread that is leased to us."""
        return StoreJournal(
            self._store,
            known,
            claim.epoch,
            self._world.now,
            self._nearby,
            routing=self._routing,
        )

    async def bring_to_rest(self, claim: Claim, journal: StoreJournal) -> bool:
        """Do what is to be done, and let go; tell whether more had come by then."""
        await journal.fire_timers()
        await self._run_agent(journal)
        if await keep_snapshot(self._store, journal.state, journal.snapshot_seq):
            self._nearby.states.forget(claim.thread)  # what is remembered knows of an older one
        return False if journal.is_letting_go else await self._let_go(claim, journal)

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
        journal.may_release = True
        try:
            with self._watched(state) as world:
                await Run(agent.definition, journal, state, world).to_rest()
        except IdTaken as exc:  # a tool chose the id of its question, and so did another thread's
            await self._fail(journal, str(exc))

    @contextmanager
    def _watched(self, state: ThreadState) -> Iterator[World]:
        """Let the channel that the thread began in show that the agent is at work."""
        live = self._live.get(state.origin.partition(":")[0])
        if live is None or isinstance(next_step(state), Wait):
            yield self._world
            return
        live.working(state.id, state.origin)
        try:
            yield replace(self._world, on_text=partial(live.wrote, state.id, state.origin))
        finally:
            live.rested(state.id, state.origin)

    async def _fail(self, journal: StoreJournal, error: str) -> None:
        """Fail the thread, unless somebody has stopped it first."""
        while journal.state.lifecycle == "active":
            with suppress(Overtaken):
                failed = ThreadFailed(at=self._world.now(), error=error)
                await journal.append([failed], seen=journal.state.seq)

    async def _let_go(self, claim: Claim, journal: StoreJournal) -> bool:
        journal.is_letting_go = True
        state = journal.state
        # Due now if it was halted half-way; else at its next timer.
        now = self._world.now()
        due_at = wake_at(state, now)
        if due_at == now and state.agent not in self._agents:
            due_at = Millis(now + _AGENT_BACK_MS)  # it was cancelled: who could undo it is gone
        return await self._store.release(claim, handled_seq=state.seq, wake_at=due_at)
