"""Lists by what somebody wishes for: only the conditions that are asked for are in the statement.

A condition that may be empty (`$1 = '' OR …`) would keep PostgreSQL from using an index.
"""

from __future__ import annotations

from storage.cursors import read_cursor, write_cursor
from storage.postgres import rows
from storage.postgres.driver import Driver
from storage.postgres.statements import DUE, QUESTION_COLUMNS, THREAD_COLUMNS
from storage.texts import is_storable
from storage.values import Page, QuestionPage, Wish


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
    words = wish.agent + wish.requester + wish.status
    if not _add_status(conditions, wish) or not is_storable(words):
        return Page([], None)
    limit = conditions.name(wish.limit + 1)
    found = await driver.fetch(
        f"SELECT {THREAD_COLUMNS} FROM threads WHERE {conditions}"
        f" ORDER BY created_at DESC, id DESC LIMIT {limit}",
        *conditions.arguments,
        again=True,
    )
    items = [rows.thread(row) for row in found[: wish.limit]]
    more = len(found) > wish.limit
    return Page(items, write_cursor(items[-1].created_at, items[-1].id) if more else None)


def _add_status(conditions: _Conditions, wish: Wish) -> bool:
    """Add what the status asks for; False if no thread can have it."""
    if not wish.status:
        return True
    if wish.status == "queued":
        if wish.now is not None:
            conditions.add(_IS_DUE, wish.now)
        return wish.now is not None
    conditions.add("status = {0}", wish.status)
    if wish.now is not None:
        conditions.add(_IS_NOT_DUE, wish.now)
    return True


async def question_page(driver: Driver, wish: Wish) -> QuestionPage:
    """List questions, oldest first."""
    conditions = _Conditions()
    if wish.status:
        conditions.add("status = {0}", wish.status)
    if wish.agent:
        asked_by = (
            "EXISTS (SELECT FROM threads WHERE threads.id = questions.thread AND agent = {0})"
        )
        conditions.add(asked_by, wish.agent)
    if wish.cursor:
        conditions.add("(asked_at, id) > ({0}, {1})", *read_cursor(wish.cursor))
    if not is_storable(wish.agent + wish.status):
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
