"""One look at the open questions for everybody who has the queue before them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from agent_core.thread.events import Millis
from gateway.inbox.pages.board import MOST, Board
from gateway.inbox.visitor import Visitor
from gateway.settings.config import Person
from storage.memory import MemoryStore
from storage.values import Commit, NewThread, QuestionPage, Scope, Wish
from tests.doubles.naughty_log import row_of

NOW = Millis(1_789_000_000_000)
OTTO, OLGA = Visitor(kind="person", name="otto"), Visitor(kind="person", name="olga")


class Counting(MemoryStore):
    """A store that counts how often the questions are read."""

    reads = 0

    async def questions(self, wish: Wish) -> QuestionPage:
        """Read and count."""
        self.reads += 1
        return await super().questions(wish)


class House:
    """A board over a store, stirred by hand."""

    def __init__(self) -> None:
        self.store = Counting()
        self._stir = asyncio.Event()
        self.board = Board(self.store, self._stirred, _is_asked)

    @classmethod
    async def open(cls) -> House:
        """Open it."""
        house = cls()
        await house.store.open()
        return house

    async def ask(self, who: str, key: str, *, is_heard: bool = True) -> None:
        """Ask somebody; what another machine asks may be heard of late."""
        row = row_of(who, "text", NOW, key, f"t_{key}")
        await self.store.commit(
            Commit(thread=row.thread, create=NewThread(agent="a"), questions=[row], now=NOW)
        )
        if is_heard:
            self._stir.set()

    async def _stirred(self) -> AsyncIterator[None]:
        while True:
            yield
            await self._stir.wait()
            self._stir.clear()


def _is_asked(visitor: Visitor, audience: Sequence[str]) -> bool:
    return visitor.sees_all or visitor.name in audience


def ids(told: bytes) -> list[str]:
    """Give what is told to wait."""
    found: dict[str, Any] = json.loads(told)
    return list(found["ids"])


async def test_each_is_told_what_waits_for_them_and_then_what_changes() -> None:
    """The whole of it each time, so that nobody can miss a part."""
    house = await House.open()
    await house.ask("otto", "q1")
    await house.ask("olga", "q2")
    with house.board.looked_at():
        first = await house.board.next_for(OTTO, b"", 5)
        other = await house.board.next_for(OLGA, b"", 5)
        waiting = asyncio.create_task(house.board.next_for(OTTO, first, 5))
        await asyncio.sleep(0)
        await house.ask("otto", "q3")

        assert ids(first) == ["q1"]
        assert ids(other) == ["q2"]
        assert ids(await waiting) == ["q1", "q3"]


async def test_whoever_opens_a_window_is_told_nothing_older_than_their_page() -> None:
    """A page marks as settled what the board does not name: it must not name what was before."""
    house = await House.open()
    with house.board.looked_at() as arrival:
        await house.board.next_for(OTTO, b"", 5, arrival=arrival)
    await house.ask("otto", "q1")
    with house.board.looked_at() as arrival:
        assert ids(await house.board.next_for(OTTO, b"", 5, arrival=arrival)) == ["q1"]

        await house.ask("otto", "q2", is_heard=False)
        with house.board.looked_at() as later:
            assert ids(await house.board.next_for(OTTO, b"", 5, arrival=later)) == ["q1", "q2"]


async def test_an_operator_is_told_of_everything_and_how_many_are_their_own() -> None:
    """The window's title counts what waits for them, as the page does."""
    house = await House.open()
    await house.ask("otto", "q1")
    await house.ask("root", "q2")
    scopes: frozenset[Scope] = frozenset({"read", "answer", "control"})
    root = Visitor(kind="person", name="root", person=Person(name="root"), scopes=scopes)
    with house.board.looked_at():
        told = await house.board.next_for(root, b"", 5)

    assert json.loads(told) == {"count": 1, "ids": ["q1", "q2"], "votes": [0, 0], "is_all": True}


async def test_a_board_that_is_full_says_that_it_does_not_know_all() -> None:
    """What it leaves out may be open all the same."""
    house = await House.open()
    for at in range(MOST + 1):
        await house.ask("otto", f"q{at}")
    with house.board.looked_at():
        told = json.loads(await house.board.next_for(OTTO, b"", 5))

    assert (len(told["ids"]), told["is_all"]) == (MOST, False)


async def test_many_windows_cost_one_look() -> None:
    """Five hundred windows are told by one reading of the store."""
    house = await House.open()
    await house.ask("otto", "q1")
    with house.board.looked_at():
        told = await asyncio.gather(*(house.board.next_for(OTTO, b"", 5) for _ in range(500)))

    assert set(map(len, map(ids, told))) == {1}
    assert house.store.reads == 1


async def test_what_stays_is_not_told_again() -> None:
    """Somebody else's question stirs the board, and not this window."""
    house = await House.open()
    with house.board.looked_at():
        first = await house.board.next_for(OTTO, b"", 5)
        await house.ask("olga", "q1")
        with pytest.raises(TimeoutError):
            await house.board.next_for(OTTO, first, 0.5)


async def test_nobody_looks_and_nothing_is_read() -> None:
    """The board is read only while a window is open."""
    house = await House.open()
    with house.board.looked_at():
        await house.board.next_for(OTTO, b"", 5)
    before = house.store.reads
    await house.ask("otto", "q1")
    await asyncio.sleep(0)

    assert house.store.reads == before
