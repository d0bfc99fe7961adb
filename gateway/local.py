"""The gateway over a store: reads, lets `commands` decide, commits. Runs no agent.

Whoever was overtaken by somebody else's commit looks again: the first valid answer wins, and the
second is told so by the very state that the first one made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from agent_core.agent.agent import Agent
from agent_core.errors import AlreadySettled, WrongShape
from agent_core.json_values import JsonObject, canonical, plain_object
from agent_core.loop.journal import Overtaken
from agent_core.loop.world import World
from agent_core.thread import commands
from agent_core.thread.answers import CheckArguments
from agent_core.thread.events import (
    AnswerRefused,
    Event,
    MessageReceived,
    Millis,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from agent_core.tools.signature import BadArguments
from gateway.copies import Copies
from gateway.hints import Hints
from gateway.service import IdempotencyConflict, NotFound, TooBusy
from gateway.showing import show_question, show_thread
from gateway.threads import commit_outside, read_thread, row_after
from gateway.views import HaltView, Launch, QuestionView, ThreadView
from storage.errors import ThreadKeyTaken
from storage.store import Store
from storage.values import Commit, Committed, Duplicate, InboxKey, InboxRecord, NewThread, ThreadRow

_Decide: TypeAlias = Callable[[ThreadState, Millis], list[Event]]

_COUNT_AGAIN_MS = 100
"""How long a count of the queue is good for; what this process adds meanwhile is added."""

_TRIES = 50
"""How often to look again after being overtaken. Each time somebody else got through."""


class LocalGateway(Copies):
    """The gateway in this process; see `gateway.service.Gateway` for what each method promises."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Agent],
        hints: Hints,
        *,
        world: World | None = None,
        most_queued: int = 10_000,
    ) -> None:
        super().__init__(store, hints, world or World())
        self._agents = agents
        self._most_queued = most_queued
        self._queued = 0
        self._counted_at = Millis(0)

    # Launching

    async def launch(
        self, launch: Launch, *, by: str, origin: str = "", idempotency_key: str = ""
    ) -> tuple[ThreadView, bool]:
        """Begin a thread, or take up the one with that key."""
        if launch.agent not in self._agents:
            names = ", ".join(self._agents) or "none"
            raise NotFound(f"there is no agent {launch.agent!r}; the agents are: {names}")
        inbox = self._inbox_key(by, idempotency_key, launch.model_dump())
        if launch.thread_key:
            before = await self._store.thread_by_key(launch.agent, launch.thread_key)
            if before is not None:
                return await self._say(before.id, launch.text, by, inbox), False
        await self._refuse_if_full()
        try:
            return await self._begin(launch, by=by, origin=origin, inbox=inbox)
        except ThreadKeyTaken:  # somebody began it just now
            return await self.launch(launch, by=by, origin=origin, idempotency_key=idempotency_key)

    async def _begin(
        self, launch: Launch, *, by: str, origin: str, inbox: InboxKey | None
    ) -> tuple[ThreadView, bool]:
        now = self._world.now()
        thread = ThreadId(self._world.new_id("th"))
        address = origin or f"web:{thread}"
        events: list[Event] = [
            ThreadLaunched(
                at=now,
                thread=thread,
                agent=launch.agent,
                requester=by,
                origin=address,
                metadata=plain_object(launch.metadata, "metadata"),
            ),
            MessageReceived(at=now, text=launch.text, sender=by),
        ]
        create = NewThread(
            agent=launch.agent, origin=address, requester=by, thread_key=launch.thread_key
        )
        result, commit = await commit_outside(
            self._store, ThreadState(), events, now=now, inbox=inbox, create=create
        )
        if isinstance(result, Duplicate):
            _check_same(result.first, inbox)
            return await self.thread(result.first.thread), False
        return show_thread(row_after(commit), now), True

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

    def _heard(self, state: ThreadState, text: str, by: str, now: Millis) -> list[Event]:
        """Take words as the answer to the one question in words that is for their writer."""
        asked = [one for one in state.waiting_questions() if _takes_words_of(one, by, state)]
        if len(asked) != 1:
            return commands.receive(state, text, at=now, sender=by)
        return commands.answer(
            state,
            {asked[0].question.id: text},
            at=now,
            check_arguments=self._checker(state.agent),
            by=by,
        )

    async def answer(
        self,
        question: str,
        value: Any,  # noqa: ANN401 (any JSON)
        *,
        by: str,
        comment: str = "",
    ) -> QuestionView:
        """Answer a question; the first valid answer wins."""
        key = QuestionId(question)
        row = await self._store.question(key)
        if row is None:
            raise NotFound(f"there is no question {question!r}")

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            return commands.answer(
                state,
                {key: value},
                at=now,
                check_arguments=self._checker(state.agent),
                by=by,
                comment=comment,
            )

        try:
            commit, _ = await self._commit(row.thread, decide)
        except AlreadySettled as exc:
            await self._note_refusal(row.thread, key, str(exc), by)
            raise
        return next(show_question(one) for one in commit.questions if one.id == key)

    async def _note_refusal(self, thread: ThreadId, key: QuestionId, why: str, by: str) -> None:
        """Keep the attempt in the log: somebody answered and was told that it was too late."""
        await self._command(
            thread, lambda _state, now: [AnswerRefused(at=now, question=key, reason=why, by=by)]
        )

    def _checker(self, agent: str) -> CheckArguments:
        def check(tool: str, arguments: JsonObject) -> JsonObject:
            known = self._agents.get(agent)
            if known is None or tool not in known.definition.tools:
                raise WrongShape(f"{tool} is not there any more: it can be approved as it was only")
            try:
                known.definition.tools[tool].signature.validate(arguments)
            except BadArguments as exc:
                raise WrongShape(f"The changed arguments don't fit {tool}: {exc}") from exc
            return arguments

        return check

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

    async def retry(self, thread: str, *, by: str) -> ThreadView:
        """Try again after a failure."""
        return await self._command(
            ThreadId(thread), lambda state, now: commands.retry(state, at=now, by=by)
        )

    async def _command(
        self, thread: ThreadId, decide: _Decide, *, inbox: InboxKey | None = None
    ) -> ThreadView:
        commit, before = await self._commit(thread, decide, inbox=inbox)
        return show_thread(row_after(commit, before), commit.now)

    async def _commit(
        self, thread: ThreadId, decide: _Decide, *, inbox: InboxKey | None = None
    ) -> tuple[Commit, ThreadRow]:
        """Decide on the state as it is, commit if it still is so, and look again if not."""
        for _ in range(_TRIES):
            found = await read_thread(self._store, thread)
            if found is None:
                raise NotFound(f"there is no thread {thread!r}")
            now = self._world.now()
            if inbox is not None and (first := await self._store.inbox(inbox.source, inbox.key)):
                _check_same(first, inbox)  # before deciding: the thread may have moved on since
                return Commit(thread=thread, now=found.row.updated_at), found.row
            with suppress(Overtaken):
                events = decide(found.state, now)
                result, commit = await commit_outside(
                    self._store, found.state, events, now=now, inbox=inbox
                )
                if isinstance(result, Committed):
                    return commit, found.row
        raise TooBusy("this thread is changing too fast", retry_after=1)

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


def _takes_words_of(current: QuestionState, by: str, state: ThreadState) -> bool:
    audience = (*(current.question.to or (state.requester,)), *current.escalated_to)
    return current.question.kind == "text" and by in audience


def _check_same(first: InboxRecord, inbox: InboxKey | None) -> None:
    if inbox is not None and first.digest != inbox.digest:
        raise IdempotencyConflict("this Idempotency-Key was used before, with another request")
