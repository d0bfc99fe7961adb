"""Who has a part in what: people find their own threads and questions among all the others."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import ThreadId
from storage.store import Store
from storage.values import Commit, Wish
from tests.contract.stores.rows import NOW, T1, T2, committed, later, launching, question, saying
from tests.contract.stores.test_lists import question_names, thread_names

OTTO = ("otto", "slack:t1:u2", "approver")


def begun(thread: str, *parties: str, after: int = 0, agent: str = "support") -> Commit:
    """Begin a thread in which somebody has a part."""
    return replace(launching(thread, now=later(after), agent=agent), parties=parties)


async def test_people_find_the_threads_in_which_they_have_a_part(store: Store) -> None:
    """By whatever they are known as; each thread once, newest first, in pages."""
    await committed(store, begun("t1", "slack:t1:u2", "approver"))
    await committed(store, begun("t2", "anna", after=1))
    await committed(store, begun("t3", "approver", after=2))
    await committed(store, begun("t4", after=2))
    await committed(store, begun("t5", "otto", "otto", "", after=3))

    assert await thread_names(store, Wish(parties=OTTO)) == ["t5", "t3", "t1"]
    assert await thread_names(store, Wish(parties=OTTO, limit=1)) == ["t5", "t3", "t1"]
    assert await thread_names(store, Wish(parties=("anna",))) == ["t2"]
    assert await thread_names(store, Wish(parties=("nobody", "\0", ""))) == []


async def test_a_part_that_comes_later_keeps_the_thread_in_its_place(store: Store) -> None:
    """Lists go by when a thread began, not by when somebody was asked in it; twice is once."""
    await committed(store, begun("t1"))
    await committed(store, begun("t2", "otto", after=1))
    joining = replace(saying("t1", "ask otto", now=later(9)), parties=["otto"])

    await committed(store, joining)
    await committed(store, replace(joining, now=later(10)))

    assert await thread_names(store, Wish(parties=OTTO)) == ["t2", "t1"]
    assert await thread_names(store, Wish(parties=OTTO, limit=1)) == ["t2", "t1"]


async def test_other_wishes_hold_within_ones_own_threads(store: Store) -> None:
    """Status and agent choose among theirs."""
    await committed(store, begun("t1", "otto", agent="release"))
    await committed(store, replace(begun("t2", "otto", after=1), status="waiting"))
    await committed(store, replace(begun("t3", "anna", after=2), status="waiting"))

    assert await thread_names(store, Wish(parties=OTTO, agent="release")) == ["t1"]
    assert await thread_names(store, Wish(parties=OTTO, status="waiting")) == ["t2"]
    assert await thread_names(store, Wish(parties=OTTO, status="waiting", now=NOW)) == ["t2"]


async def test_a_part_is_told_for_one_thread(store: Store) -> None:
    """Whoever has no part in a thread is told so, also of one that is not there."""
    await committed(store, begun("t1", "otto"))
    await committed(store, begun("t2", "anna"))

    assert await store.takes_part(T1, OTTO)
    assert not await store.takes_part(T2, OTTO)
    assert not await store.takes_part(T1, ())
    assert not await store.takes_part(T1, ("\0",))
    assert not await store.takes_part(ThreadId("t\0"), OTTO)


async def test_a_part_stands_and_falls_with_its_commit(store: Store) -> None:
    """A commit that is refused gives nobody a part, and a name that no store takes refuses it."""
    await committed(store, begun("t1"))

    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "late"), seen=7, parties=["otto"]))
    with pytest.raises(NotJson, match="party"):
        await store.commit(replace(saying("t1", "odd"), parties=["ot\0to"]))

    assert not await store.takes_part(T1, OTTO)


async def test_people_find_the_questions_that_they_are_asked(store: Store) -> None:
    """By a whole name, never by a piece of one; of whom nobody knows whom it asks, it is given."""
    rows = [
        replace(question("q1"), asked=("slack:t1:u2",)),
        replace(question("q2", asked_at=later(1)), asked=("anna", "approver")),
        replace(question("q3", asked_at=later(2)), asked=("ott", "approvers", "slack:t1:u22")),
        question("q4", asked_at=later(3)),
    ]
    await committed(store, replace(launching("t1"), questions=rows))

    assert await question_names(store, Wish(parties=OTTO)) == ["q1", "q2", "q4"]
    assert await question_names(store, Wish(parties=OTTO, limit=1)) == ["q1", "q2", "q4"]
    assert rows == [await store.question(row.id) for row in rows]


async def test_questions_are_listed_by_rank(store: Store) -> None:
    """The urgent ones are found by themselves; a question that changes its rank moves."""
    urgent = replace(question("q1", asked_at=later(5)), rank=0)
    rows = [urgent, question("q2"), replace(question("q3"), rank=2)]
    await committed(store, replace(launching("t1"), questions=rows))

    assert await question_names(store, Wish(rank=0, status="open")) == ["q1"]
    assert await question_names(store, Wish(rank=1, status="open")) == ["q2"]
    assert await question_names(store, Wish(rank=2, status="open")) == ["q3"]

    await committed(store, replace(saying("t1", "no hurry"), questions=[replace(urgent, rank=1)]))
    assert await question_names(store, Wish(rank=0, status="open")) == []
    assert await question_names(store, Wish(rank=1, status="open")) == ["q2", "q1"]
