"""The desk: what channels may look at. What waits for somebody, and one question as it is."""

from __future__ import annotations

from collections.abc import Sequence

from agent_core.json_values import JsonObject
from agent_core.loop.world import World
from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from channels.outgoing import QuestionCard
from channels.people import Actor
from gateway.control.showing import show_question, show_thread
from gateway.outbox.cards import card
from gateway.people.directory import Directory
from storage.store import Store
from storage.values import Wish

_PAGE, _MOST = 200, 2_000
_URGENCY = {"high": 0, "normal": 1, "low": 2}


class ChannelDesk:
    """A look at questions, with people named as one channel can show them."""

    def __init__(
        self, store: Store, people: Directory, channel: str, *, world: World | None = None
    ) -> None:
        self._store = store
        self._world = world or World()
        self._people = people
        self._channel = channel

    async def question(self, question: str) -> QuestionCard | None:
        """Give a question as it is now."""
        row = await self._store.question(QuestionId(question))
        return None if row is None else card(row.body, self._people, self._channel)

    async def may_answer(self, question: str, actor: Actor, place: str) -> bool:
        """Tell whether somebody is asked, as far as the index knows."""
        row = await self._store.question(QuestionId(question))
        return row is not None and self._people.may_answer(actor, row.body["audience"], place)

    async def waiting_for(self, actor: Actor) -> Sequence[QuestionCard]:
        """Give the open questions that this person may answer, most urgent and oldest first."""
        mine: list[QuestionCard] = []
        cursor, seen = "", 0
        while seen < _MOST:
            page = await self._store.questions(Wish(status="open", cursor=cursor, limit=_PAGE))
            mine += [
                card(row.body, self._people, self._channel)
                for row in page.items
                if self._people.may_answer(actor, row.body["audience"])
            ]
            seen += len(page.items)
            if page.next_cursor is None:
                break
            cursor = page.next_cursor
        return sorted(mine, key=lambda one: (_URGENCY[one.urgency], one.asked_at))

    async def thread_view(self, thread: str) -> JsonObject | None:
        """Give a thread as the API shows it now."""
        row = await self._store.thread(ThreadId(thread))
        now = self._world.now()
        return None if row is None else show_thread(row, now).model_dump(mode="json")

    async def question_view(self, question: str) -> JsonObject | None:
        """Give a question as the API shows it now."""
        row = await self._store.question(QuestionId(question))
        return None if row is None else show_question(row).model_dump(mode="json", by_alias=True)
