"""Copies of threads: forks beside them, exports to keep, imports from elsewhere."""

from __future__ import annotations

from msgspec import structs

from agent_core.thread.checkpoint import Log
from agent_core.thread.events import ThreadId
from agent_core.thread.fold import fold
from agent_core.thread.fork import fork
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from gateway.control.reading import Reading
from gateway.control.service import AlreadyHere
from gateway.control.views import ThreadView
from gateway.work.threads import commit_fork, commit_import
from storage.values import NewThread


class Copies(Reading):
    """What makes one thread of another."""

    async def fork(self, thread: str, *, by: str, at: int | None = None) -> ThreadView:
        """Copy a thread up to an event, under a new id; who forked it hears of it."""
        events = await self.log(ThreadId(thread))
        now, new = self._world.now(), ThreadId(self._world.new_id("th"))
        forked = fork(
            events,
            at_seq=at,
            thread=new,
            now=now,
            new_question=lambda: QuestionId(self._world.new_id("q")),
        )
        forked[0] = structs.replace(forked[0], origin=f"web:{new}")
        create = _row_of(fold(forked), by)
        copied = len(events) if at is None else at
        await commit_fork(
            self._store, forked, copied=copied, now=now, create=create, routing=self._routing
        )
        return await self.thread(new)

    async def export(self, thread: str) -> str:
        """Write the whole thread as a checkpoint's text."""
        log = Log()
        log.extend(await self.log(ThreadId(thread)))
        return log.text()

    async def import_(self, checkpoint: str, *, by: str) -> ThreadView:
        """Take over a thread from another installation, under its own id."""
        log, state = Log.read(checkpoint)
        if await self._store.thread(state.id) is not None:
            raise AlreadyHere(f"thread {state.id} is here already")
        now = self._world.now()
        await commit_import(
            self._store, log.events, now=now, create=_row_of(state, by), routing=self._routing
        )
        return await self.thread(state.id)


def _row_of(state: ThreadState, by: str) -> NewThread:
    return NewThread(agent=state.agent, origin=state.origin, requester=state.requester or by)
