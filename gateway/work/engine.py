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
from agent_core.errors import ImpossibleEvent
from agent_core.loop.world import World
from agent_core.thread.events import Millis, ThreadId
from channels.channel import Live
from gateway.people.routing import ORIGIN_ONLY, Routing
from gateway.shortcuts.hints import ANY, Hints, heard_or_later
from gateway.shortcuts.nearby import Nearby
from gateway.shortcuts.states import Known
from gateway.work.journal import StoreJournal
from gateway.work.leaving import Left
from gateway.work.turn import Turns
from storage.errors import Fenced, StoreError, StoreUnreachable, Unreadable
from storage.store import Store
from storage.values import Claim, Hint

_log = logging.getLogger("parley.engine")


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
        nearby: Nearby | None = None,
        live: Mapping[str, Live] | None = None,
        routing: Routing = ORIGIN_ONLY,
    ) -> None:
        """Take `live`: who shows an agent at work, by the channel that its thread began in."""
        self._store = store
        self._hints = hints
        self._nearby = nearby or Nearby()
        self._options = options or EngineOptions()
        self._world = replace(world or World(), halted=lambda: self._halted)
        self._turns = Turns(store, agents, self._world, self._nearby, live or {}, routing=routing)
        self._halted = ""
        self._halt_moved = True
        self._draining = False
        self._behind = True
        """There may be more due than there was room for: it goes before what comes in now."""
        self._reserved = 0
        self._too_late: list[Claim] = []
        """Handed over when we were draining already."""
        self._journals: dict[ThreadId, StoreJournal] = {}
        self._claims: dict[ThreadId, Claim] = {}
        self._runs: dict[ThreadId, asyncio.Task[None]] = {}
        self._renewed_at = Millis(0)
        self._heard: dict[ThreadId, int] = {}
        """What was hinted at while a thread was being read, before its journal could hear."""
        self._look = asyncio.Event()
        self._left = Left(self._world.now)

    async def run(self) -> None:
        """Work until cancelled; then drain: finish what can't be stopped, give leases back."""
        with self._hints.listening(ANY, self._hear):
            self._nearby.engine = self
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._claim_for_ever(), name="engine: claim")
                    tasks.create_task(self._renew_for_ever(), name="engine: renew")
            finally:
                await self._drain()

    def _hear(self, hint: Hint) -> None:
        thread = ThreadId(hint.topic)
        journal = self._journals.get(thread)
        if journal is not None and not journal.is_letting_go:
            journal.stir(hint.seq)
        elif journal is None and thread in self._runs:
            self._heard[thread] = hint.seq
        elif hint.is_due and hint.topic != "deliveries":
            self._halt_moved = self._halt_moved or hint.topic in ("halt", ANY)
            self._look.set()
        if hint.topic == ANY:
            self._stir_all()

    # What is handed over by intake, leased already

    def reserve(self) -> int | None:
        """Keep a place free, unless there is none, others wait for it, or nothing may run."""
        if self._behind or self._halted or self._halt_moved or self._room() <= 0:
            return None
        self._reserved += 1
        return self._options.lease_ms

    def unreserve(self) -> None:
        """Give a place back."""
        if self._draining or self._room() <= 0:
            self._look.set()
        self._reserved -= 1

    def take(self, claim: Claim, known: Known) -> None:
        """Bring a thread to rest that was leased on our behalf."""
        if self._draining:
            self._too_late.append(claim)
        else:
            self._start(claim, known)

    def is_at(self, thread: ThreadId) -> bool:
        """Tell whether we are at work on a thread, and hold its lease."""
        journal = self._journals.get(thread)
        return thread in self._claims and (journal is None or not journal.is_letting_go)

    def _room(self) -> int:
        return self._options.at_once - len(self._runs) - self._reserved

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
        room = self._room()
        if room <= 0:
            self._behind = True
            return False
        await self._renew_if_late()
        now, lease_ms, leave = self._world.now(), self._options.lease_ms, self._left.threads()
        claiming = asyncio.ensure_future(
            self._store.claim(now=now, lease_ms=lease_ms, limit=room, leave=leave)
        )
        try:
            claims = await asyncio.shield(claiming)
        except asyncio.CancelledError:  # the store may have leased them all the same
            with suppress(StoreError):
                await self._give_back(await claiming)
            raise
        left = max(self._room(), 0)  # some may have been handed over meanwhile
        for claim in claims[:left]:
            self._start(claim)
        await self._give_back(claims[left:])
        self._behind = len(claims) >= min(room, left)
        return self._behind

    def _start(self, claim: Claim, known: Known | None = None) -> None:
        before = self._runs.get(claim.thread)  # at its very end, or its lease ran out meanwhile
        journal = self._journals.pop(claim.thread, None)
        if before is not None and (journal is None or not journal.is_letting_go):
            before.cancel()
        advance = self._advance(claim, known, before)
        run = asyncio.create_task(advance, name=f"thread {claim.thread}")
        self._claims[claim.thread] = claim
        self._runs[claim.thread] = run
        run.add_done_callback(partial(self._forget, claim.thread))

    def _forget(self, thread: ThreadId, run: asyncio.Task[None]) -> None:
        if self._room() <= 0 or thread in self._heard:
            self._look.set()  # there is room again, or something came in the last moment
        if self._runs.get(thread) is run:
            del self._runs[thread]
            self._claims.pop(thread, None)
            self._journals.pop(thread, None)
            self._heard.pop(thread, None)

    async def _read_halt(self) -> None:
        self._halt_moved = False
        try:
            halted = await self._store.halted()
        except BaseException:
            self._halt_moved = True  # look again before anything else
            raise
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

    async def _renew_if_late(self) -> None:
        """Renew before claiming, after the machine slept: or else we claim what we are at."""
        if self._claims and self._world.now() >= self._renewed_at + self._options.lease_ms:
            with suppress(StoreError):
                await self._renew()

    async def _renew(self) -> None:
        self._renewed_at = self._world.now()
        mine = [claim for claim in self._claims.values() if self.is_at(claim.thread)]
        kept = await self._store.renew(mine, now=self._world.now(), lease_ms=self._options.lease_ms)
        held = {claim.thread: claim for claim in kept}
        for claim in mine:
            if self._claims.get(claim.thread) is not claim or not self.is_at(claim.thread):
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

    async def _advance(
        self, claim: Claim, known: Known | None, before: asyncio.Task[None] | None
    ) -> None:
        try:
            if before is not None:
                await asyncio.wait([before])
            await self._bring_to_rest(claim, known)
        except Fenced:
            _log.warning("fenced", extra={"thread_id": claim.thread})
        except (Unreadable, ImpossibleEvent) as exc:
            await self._leave(claim, exc)
        except StoreUnreachable as exc:  # what was done is written; we could not even read on
            _log.warning("store away", extra={"thread_id": claim.thread, "error": str(exc)})
            await self._give_back([claim])
        except StoreError:
            _log.exception("store failed", extra={"thread_id": claim.thread})
        except Exception:  # noqa: BLE001 (our bug: it must not take the others down; the lease runs out)
            _log.exception("advance failed", extra={"thread_id": claim.thread})

    async def _leave(self, claim: Claim, exc: Exception) -> None:
        """Leave to others what newer code has written, or what is damaged.

        Unless we have no say in it any more: then others have gone on, and we did not fit in.
        """
        lease_ms = self._options.lease_ms
        with suppress(StoreError):
            if not await self._store.renew([claim], now=self._world.now(), lease_ms=lease_ms):
                _log.warning("fenced", extra={"thread_id": claim.thread})
                return
        _log.warning("left to others", extra={"thread_id": claim.thread, "error": str(exc)})
        self._left.add(claim.thread)
        await self._give_back([claim])

    async def _bring_to_rest(self, claim: Claim, known: Known | None) -> None:
        known = known or await self._turns.read(claim)
        if known is None:
            return
        journal = self._turns.journal(claim, known)
        self._journals[claim.thread] = journal
        journal.stir(self._heard.pop(claim.thread, 0))
        if await self._turns.bring_to_rest(claim, journal):
            self._look.set()  # the hint may have gone to the journal that ends here

    # The end

    async def _drain(self) -> None:
        """Start nothing more, let end what can't be stopped, and give the rest back."""
        self._draining = True
        self._nearby.engine = None
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
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.drain_seconds):
                while self._reserved:  # it is being leased on our behalf
                    await self._look.wait()
                    self._look.clear()
        await self._give_back(self._too_late)

    async def _give_back(self, claims: list[Claim]) -> None:
        """Let others go on at once with what was cut off; nothing of it was handled."""
        with suppress(StoreError):
            for claim in claims:
                await self._store.release(claim, handled_seq=claim.seq, wake_at=self._world.now())
