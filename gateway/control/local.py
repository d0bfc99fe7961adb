"""The gateway over a store: reads, lets `commands` decide, commits. Runs no agent.

Whoever was overtaken by somebody else's commit looks again: the first valid answer wins, and the
second is told so by the very state that the first one made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from agent_core.agent.agent import Agent
from agent_core.json_values import JsonObject, canonical
from agent_core.loop.world import World
from agent_core.thread import commands
from agent_core.thread.events import Event, Millis, ThreadId
from agent_core.thread.state import ThreadState
from channels.callback.addresses import parse_target
from channels.callback.guard import Guard
from gateway.control.answering import Answering
from gateway.control.deciding import Decide, check_same
from gateway.control.service import NotFound, TooBusy
from gateway.control.showing import show_thread
from gateway.control.views import HaltView, Launch, ThreadView
from gateway.people.routing import Routing
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.opening import Opening
from gateway.work.threads import commit_outside, row_after
from storage.errors import ThreadKeyTaken
from storage.store import Store
from storage.values import Committed, InboxKey, ThreadRow

_COUNT_AGAIN_MS = 100
"""How long a count of the queue is good for; what this process adds meanwhile is added."""


class LocalGateway(Answering):
    """The gateway in this process; see `service.Gateway` for what each method promises."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Agent],
        hints: Hints,
        *,
        world: World | None = None,
        most_queued: int = 10_000,
        nearby: Nearby | None = None,
        routing: Routing | None = None,
        guard: Guard | None = None,
    ) -> None:
        """Take `guard`: which callbacks may be chosen."""
        super().__init__(
            store, agents, hints, world=world or World(), nearby=nearby or Nearby(), routing=routing
        )
        self._most_queued = most_queued
        self._guard = guard or Guard()
        self._queued = 0
        self._counted_at = Millis(0)

    # Launching

    async def launch(
        self, launch: Launch, *, by: str, origin: str = "", idempotency_key: str = ""
    ) -> tuple[ThreadView, bool]:
        """Begin a thread, or take up the one with that key."""
        self._require_agent(launch.agent)
        watchers = self._watchers(launch)
        inbox = None
        if idempotency_key:
            inbox = self._inbox_key(by, idempotency_key, launch.model_dump())
        if launch.thread_key:
            before = await self._store.thread_by_key(launch.agent, launch.thread_key)
            if before is not None:
                return await self._say(before.id, launch.text, by, inbox), False
        opening = Opening(
            agent=launch.agent,
            text=launch.text,
            by=by,
            origin=origin,
            thread_key=launch.thread_key,
            metadata=launch.metadata,
            watchers=watchers,
            inbox=inbox,
        )
        try:
            row, is_new = await self._open(opening)
            return show_thread(row, self._world.now()), is_new
        except ThreadKeyTaken:  # somebody began it just now
            return await self.launch(launch, by=by, origin=origin, idempotency_key=idempotency_key)

    def _watchers(self, launch: Launch) -> tuple[str, ...]:
        """Give where else to tell it, or raise BadCallback."""
        if not launch.callback_url:
            return ()
        target = parse_target(launch.callback_url)
        self._guard.check(target)
        return (target.address,)

    async def begin(self, opening: Opening) -> tuple[ThreadId, bool]:
        """Begin a thread from a channel; tell whether it is new, or a copy of an earlier one."""
        self._require_agent(opening.agent)
        row, is_new = await self._open(opening)
        return row.id, is_new

    def _require_agent(self, agent: str) -> None:
        if agent not in self._agents:
            names = ", ".join(self._agents) or "none"
            raise NotFound(f"there is no agent {agent!r}; the agents are: {names}")

    async def _open(self, opening: Opening) -> tuple[ThreadRow, bool]:
        await self._refuse_if_full()
        now = self._world.now()
        thread = ThreadId(self._world.new_id("th"))
        result, commit = await commit_outside(
            self._store,
            ThreadState(),
            opening.events(thread, now),
            now=now,
            inbox=opening.inbox,
            create=opening.new_thread(thread),
            places=opening.places,
            nearby=self._nearby,
            routing=self._routing,
        )
        if isinstance(result, Committed):
            return row_after(commit), True
        check_same(result.first, opening.inbox)
        row = await self._store.thread(result.first.thread)
        if row is None:
            raise NotFound(f"there is no thread {result.first.thread!r} any more")
        return row, False

    async def _refuse_if_full(self) -> None:
        now = self._world.now()
        if now >= self._counted_at + _COUNT_AGAIN_MS:
            self._counted_at = now  # before looking: many launches at once look once
            self._queued = await self._store.queued(now=now)
        self._queued += 1
        if self._queued > self._most_queued:
            raise TooBusy("too many threads are waiting for a worker", retry_after=5)

    # Talking and deciding

    async def say(
        self, thread: str, text: str, *, by: str, idempotency_key: str = ""
    ) -> ThreadView:
        """Say something more."""
        inbox = self._inbox_key(by, idempotency_key, {"thread": thread, "text": text})
        return await self._say(ThreadId(thread), text, by, inbox)

    async def _say(
        self, thread: ThreadId, text: str, by: str, inbox: InboxKey | None
    ) -> ThreadView:
        return await self._command(
            thread,
            lambda state, now: self._heard(state, text, by, now),
            inbox=inbox,
        )

    async def pause(self, thread: str, *, by: str, reason: str = "") -> ThreadView:
        """Hold it."""
        return await self._command(
            ThreadId(thread), lambda state, now: commands.pause(state, at=now, by=by, reason=reason)
        )

    async def resume(self, thread: str, *, by: str, instruction: str = "") -> ThreadView:
        """Let it go on."""
        return await self._command(
            ThreadId(thread),
            lambda state, now: commands.resume(state, at=now, by=by, instruction=instruction),
        )

    async def cancel(self, thread: str, *, by: str, reason: str = "") -> ThreadView:
        """Stop it for good."""
        return await self._command(
            ThreadId(thread),
            lambda state, now: commands.cancel(state, at=now, by=by, reason=reason),
        )

    async def move(self, thread: str, channel: str, *, by: str, vouched: str = "") -> ThreadView:
        """Let the conversation go on by another channel, with who began it."""
        return await self._command(
            ThreadId(thread),
            lambda state, now: self.moved(state, channel, by=by, vouched=vouched, now=now),
        )

    def moved(
        self, state: ThreadState, channel: str, *, by: str, now: Millis, vouched: str = ""
    ) -> list[Event]:
        """Decide where it goes on; raises Refused if that is nowhere."""
        to = self._routing.way_to(state.requester, channel, vouched)
        return commands.move(state, to, at=now, by=by)

    async def retry(self, thread: str, *, by: str) -> ThreadView:
        """Try again after a failure."""
        return await self._command(
            ThreadId(thread), lambda state, now: commands.retry(state, at=now, by=by)
        )

    async def decide(
        self, thread: ThreadId, decide: Decide, *, inbox: InboxKey | None = None
    ) -> bool:
        """Commit what is decided on the state as it is; False for a copy of an earlier message."""
        commit, _ = await self._commit(thread, decide, inbox=inbox)
        return bool(commit.events)

    async def _command(
        self, thread: ThreadId, decide: Decide, *, inbox: InboxKey | None = None
    ) -> ThreadView:
        commit, before = await self._commit(thread, decide, inbox=inbox)
        if commit.status == "running":  # or queued: only the store knows who has it
            return await self.thread(thread)
        return show_thread(row_after(commit, before), commit.now)

    def _inbox_key(self, by: str, key: str, content: JsonObject) -> InboxKey | None:
        if not key:
            return None
        digest = hashlib.sha256(canonical(content)).hexdigest()
        return InboxKey(source=f"api:{by}", key=key, digest=digest)

    # The kill switch

    async def halt(self, reason: str, *, by: str) -> HaltView:
        """Let no model or tool be called anywhere."""
        await self._store.set_halt(f"{reason} ({by})" if by else reason)
        return await self.halted()

    async def lift(self, *, by: str) -> HaltView:  # noqa: ARG002 (kept in the audit log later)
        """Let everything go on."""
        await self._store.set_halt("")
        return await self.halted()
