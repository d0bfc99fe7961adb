"""Sight: who sees what, and may do what to it.

The holder of a key sees what the key's scopes show, as over the API. A person sees the threads
that they began, were asked in or have written in, and the questions of those; operators see
everything. Whoever sees a thing may answer or steer it only if they also are asked, began it, or
are an operator.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agent_core.loop.world import World
from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from gateway.control.service import NotFound
from gateway.control.showing import show_question, show_thread
from gateway.control.views import QuestionList, QuestionView, ThreadList, ThreadView
from gateway.inbox.visitor import Visitor
from gateway.people.directory import Directory
from storage.errors import BadCursor
from storage.store import Store
from storage.values import Page, QuestionPage, QuestionRow, Wish

_NOTHING = Page([], None)
_RANKS = (0, 1, 2)
"""Urgent, usual, and what can wait."""


class Sight:
    """Knows what is whose."""

    def __init__(self, store: Store, people: Directory, world: World) -> None:
        self._store = store
        self._people = people
        self._world = world

    # One thing

    async def may_see(self, visitor: Visitor, thread: str) -> bool:
        """Tell whether a thread is theirs to look at."""
        if not visitor.may("read"):
            return False
        return visitor.sees_all or await self._store.takes_part(
            ThreadId(thread), self._parties(visitor)
        )

    async def thread(self, visitor: Visitor, thread: str) -> ThreadView:
        """Show a thread; one that is not theirs is as if it were not there."""
        row = await self._store.thread(ThreadId(thread))
        if row is None or not await self.may_see(visitor, thread):
            raise NotFound(f"There is no thread {thread!r}, or it is not yours to see.")
        return show_thread(row, self._world.now())

    async def question(self, visitor: Visitor, question: str) -> QuestionView:
        """Show a question; one that is not theirs is as if it were not there."""
        row = await self._store.question(QuestionId(question))
        view = None if row is None else show_question(row)
        if view is None or not await self._may_see_question(visitor, view):
            raise NotFound(f"There is no question {question!r}, or it is not yours to see.")
        return view

    # Lists

    async def rows(self, visitor: Visitor, wish: Wish) -> Page:
        """List the threads that are theirs to look at, newest first, as the store has them."""
        if not visitor.may("read"):
            return _NOTHING
        if visitor.sees_all:
            return await self._store.threads(wish)
        return await self._store.threads(replace(wish, parties=self._parties(visitor)))

    async def threads(
        self,
        visitor: Visitor,
        *,
        status: str = "",
        agent: str = "",
        cursor: str = "",
        limit: int = 50,
    ) -> ThreadList:
        """List the threads that are theirs to look at, newest first."""
        now = self._world.now()
        wish = Wish(status=status, agent=agent, cursor=cursor, limit=limit, now=now)
        page = await self.rows(visitor, wish)
        items = [show_thread(row, now) for row in page.items]
        return ThreadList(items=items, next_cursor=page.next_cursor)

    async def questions(
        self, visitor: Visitor, *, status: str = "open", cursor: str = "", limit: int = 50
    ) -> QuestionList:
        """List the questions that wait for them, the most urgent and then the oldest first."""
        page = await self.question_rows(visitor, status=status, cursor=cursor, limit=limit)
        return QuestionList(
            items=[show_question(row) for row in page.items], next_cursor=page.next_cursor
        )

    async def question_rows(
        self, visitor: Visitor, *, status: str = "open", cursor: str = "", limit: int = 50
    ) -> QuestionPage:
        """Do the same, as the store has them."""
        if not (visitor.may("read") or visitor.may("answer")):
            return QuestionPage([], None)
        parties = () if visitor.sees_all else self._parties(visitor)
        rank, within = _read_cursor(cursor)
        found: list[QuestionRow] = []
        while len(found) < limit:
            wish = Wish(
                status=status, parties=parties, rank=rank, cursor=within, limit=limit - len(found)
            )
            page = await self._store.questions(wish)
            found += [row for row in page.items if self._is_for(visitor, row)]
            within = page.next_cursor or ""
            if not within:
                rank += 1
            if rank > _RANKS[-1]:
                return QuestionPage(found, None)
        return QuestionPage(found, f"{rank}.{within}")

    # What they may do

    def is_asked(self, visitor: Visitor, audience: Sequence[str]) -> bool:
        """Tell whether what this audience is asked stands in their queue."""
        if visitor.sees_all:
            return visitor.may("read") or visitor.may("answer")
        return visitor.is_somebody and self._people.may_answer(visitor.actor, audience)

    def may_answer(self, visitor: Visitor, question: QuestionView) -> bool:
        """Tell whether an answer of theirs counts: as over the API, or as where they are asked."""
        return question.status == "open" and self.may_answer_of(visitor, question.audience)

    def may_answer_of(self, visitor: Visitor, audience: Sequence[str]) -> bool:
        """Tell the same of any open question that is for this audience."""
        if not visitor.may("answer"):
            return False
        if visitor.person is None:
            return visitor.kind == "key"
        return self._people.may_answer(visitor.actor, audience)

    def may_control(self, visitor: Visitor, thread: ThreadView) -> bool:
        """Tell whether they may pause, resume or cancel it: whoever began it, and operators."""
        if visitor.kind == "key":
            return visitor.may("control")
        return visitor.is_somebody and self._people.may_control(visitor.actor, thread.requester)

    def _is_for(self, visitor: Visitor, row: QuestionRow) -> bool:
        return self.is_asked(visitor, row.body.get("audience", ()))

    def _parties(self, visitor: Visitor) -> tuple[str, ...]:
        """Give everything that a person is known as; nobody is known as nothing."""
        person = visitor.person
        return tuple(sorted(self._people.known_as(person))) if person else ("",)

    async def _may_see_question(self, visitor: Visitor, question: QuestionView) -> bool:
        if self.is_asked(visitor, question.audience):
            return True
        return await self.may_see(visitor, question.thread_id)


def _read_cursor(cursor: str) -> tuple[int, str]:
    """Read where a list goes on: the rank, and the store's own cursor within it."""
    if not cursor:
        return _RANKS[0], ""
    rank, dot, within = cursor.partition(".")
    if not dot or rank not in {str(one) for one in _RANKS}:
        raise BadCursor("the cursor did not come from this list")
    return int(rank), within
