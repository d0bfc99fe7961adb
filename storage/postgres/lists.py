"""Lists by what somebody wishes for: only the conditions that are asked for are in the statement.

A condition that may be empty (`$1 = '' OR …`) would keep PostgreSQL from using an index.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.cursors import read_cursor, write_cursor
from storage.postgres import rows
from storage.postgres.driver import Driver
from storage.postgres.statements import DUE, QUESTION_COLUMNS, THREAD_COLUMNS
from storage.texts import asked_text, is_storable
from storage.values import ASIDE, USUAL_RANK, Page, QuestionPage, Wish


class _Conditions:
    """Conditions and their arguments, in step."""

    def __init__(self) -> None:
        """Begin with none: everything is wished for."""
        self.arguments: list[object] = []
        self._conditions: list[str] = []

    def add(self, condition: str, *arguments: object) -> None:
        """Add one, with `{0}`, `{1}` … where its arguments go."""
        names = [self.name(argument) for argument in arguments]
        self._conditions.append(condition.format(*names))

    def name(self, argument: object) -> str:
        """Give an argument's name in the statement."""
        self.arguments.append(argument)
        return f"${len(self.arguments)}"

    def __str__(self) -> str:
        """Write them all."""
        return " AND ".join(f"({condition})" for condition in self._conditions) or "true"


_IS_DUE = DUE.format(now="{0}")
_IS_NOT_DUE = f"({_IS_DUE}) IS NOT TRUE"


_OF_A_PARTY = """
(SELECT p.thread FROM parties AS p JOIN threads ON threads.id = p.thread
 WHERE p.party = {party} AND {conditions} ORDER BY p.at DESC, p.thread DESC LIMIT {limit})
"""


async def thread_page(driver: Driver, wish: Wish) -> Page:
    """List threads, newest first."""
    conditions = _Conditions()
    if wish.agent:
        conditions.add("agent = {0}", wish.agent)
    if wish.requester:
        # The index knows only threads that have a requester, and has to be told that this is one.
        conditions.add("requester = {0} AND requester <> ''", wish.requester)
        conditions.add("substr(origin, 1, 4) <> 'web:'")
    if wish.cursor:
        conditions.add("(created_at, id) < ({0}, {1})", *read_cursor(wish.cursor))
        if wish.parties:
            conditions.add("(p.at, p.thread) < ({0}, {1})", *read_cursor(wish.cursor))
    words = "".join((wish.agent, wish.requester, wish.status, *wish.parties))
    if not _add_status(conditions, wish) or not is_storable(words):
        return Page([], None)
    limit = conditions.name(wish.limit + 1)
    wanted = _of_parties(conditions, wish, limit) if wish.parties else str(conditions)
    found = await driver.fetch(
        f"SELECT {THREAD_COLUMNS} FROM threads WHERE {wanted}"
        f" ORDER BY created_at DESC, id DESC LIMIT {limit}",
        *conditions.arguments,
        again=True,
    )
    items = [rows.thread(row) for row in found[: wish.limit]]
    more = len(found) > wish.limit
    return Page(items, write_cursor(items[-1].created_at, items[-1].id) if more else None)


def _of_parties(conditions: _Conditions, wish: Wish, limit: str) -> str:
    """Find the newest threads of each party by itself, and put them together."""
    where = str(conditions)
    arms = (
        _OF_A_PARTY.format(party=conditions.name(party), conditions=where, limit=limit)
        for party in wish.parties
    )
    return f"id IN ({' UNION '.join(arms)})"


def _add_status(conditions: _Conditions, wish: Wish) -> bool:
    """Add what the status asks for; False if no thread can have it."""
    if not wish.status:
        return True
    if wish.status == "queued":
        if wish.now is not None:
            conditions.add(_IS_DUE, wish.now)
        return wish.now is not None
    _add_indexed(conditions, wish.status, ASIDE)
    if wish.now is not None:
        conditions.add(_IS_NOT_DUE, wish.now)
    return True


def _add_indexed(conditions: _Conditions, status: str, indexed: Sequence[str]) -> None:
    """Ask for a status; one that has an index of its own is spelled out, as the index asks for."""
    if status in indexed:
        conditions.add(f"status = '{status}'")
    else:
        conditions.add("status = {0}", status)


async def question_page(driver: Driver, wish: Wish) -> QuestionPage:
    """List questions, oldest first."""
    conditions = _Conditions()
    if wish.status:
        _add_indexed(conditions, wish.status, ("open",))
    if wish.agent:
        asked_by = (
            "EXISTS (SELECT FROM threads WHERE threads.id = questions.thread AND agent = {0})"
        )
        conditions.add(asked_by, wish.agent)
    if wish.cursor:
        conditions.add("(asked_at, id) > ({0}, {1})", *read_cursor(wish.cursor))
    if wish.rank is not None:
        # The index of ranks knows only unusual ones, and has to be told that this is one.
        conditions.add("rank = {0}", wish.rank)
        conditions.add("true" if wish.rank == USUAL_RANK else f"rank <> {USUAL_RANK}")
    if wish.parties:
        named = (conditions.name(asked_text([party])) for party in wish.parties)
        found_in = " OR ".join(f"strpos(asked, {one}) > 0" for one in named)
        conditions.add(f"asked = '' OR {found_in}")
    if not is_storable("".join((wish.agent, wish.status, *wish.parties))):
        return QuestionPage([], None)
    limit = conditions.name(wish.limit + 1)
    found = await driver.fetch(
        f"SELECT {QUESTION_COLUMNS} FROM questions WHERE {conditions}"
        f" ORDER BY asked_at, id LIMIT {limit}",
        *conditions.arguments,
        again=True,
    )
    items = [rows.question(row) for row in found[: wish.limit]]
    more = len(found) > wish.limit
    return QuestionPage(items, write_cursor(items[-1].asked_at, items[-1].id) if more else None)
