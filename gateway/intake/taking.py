"""Taking: what came in is committed once, under its key; a copy of it changes nothing."""

from __future__ import annotations

from agent_core.loop.world import World
from agent_core.thread.events import AnswerRefused, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from channels.inbound import Inbound
from channels.intake import Received
from channels.people import Actor
from gateway.control.deciding import Decide
from gateway.control.local import LocalGateway
from gateway.work.lateness import overdue
from storage.values import InboxKey

_REMEMBERED_MS = 90 * 24 * 3_600_000
"""How long a message's key is kept: no channel sends a copy later, and few edits come later."""


class Taking:
    """Commits what channels bring."""

    def __init__(self, gateway: LocalGateway, world: World) -> None:
        self._gateway = gateway
        self._world = world

    async def take(self, thread: ThreadId, inbound: Inbound, decide: Decide) -> Received:
        """Commit what is decided about it, unless it was taken before."""
        done = await self._gateway.decide(thread, decide, inbox=self.key(inbound))
        return Received(effect="taken" if done else "copy", thread=thread)

    async def note(self, thread: ThreadId, key: QuestionId, why: str, actor: Actor) -> None:
        """Keep an attempt in the log that had no effect; the question may expire by it."""
        await self._gateway.decide(
            thread,
            lambda state, now: [
                *overdue(state, key, now),
                AnswerRefused(at=now, question=key, reason=why, by=actor.id),
            ],
        )

    def key(self, inbound: Inbound) -> InboxKey:
        """Name it as its source does."""
        expires = Millis(self._world.now() + _REMEMBERED_MS)
        return InboxKey(source=source(inbound), key=inbound.key, expires_at=expires)


def source(inbound: Inbound) -> str:
    """Give the channel that it came through."""
    return inbound.place.partition(":")[0]
