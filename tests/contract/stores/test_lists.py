"""Lists of threads and questions: filters, and pages that stay put while things are added."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.thread.events import ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import BadCursor
from storage.store import Store
from storage.values import CachedStatus, Commit, Wish
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    claimed,
    committed,
    later,
    launched,
    launching,
    question,
)


async def thread_names(store: Store, wish: Wish) -> list[str]:
    """Give all pages of a list of threads, one after the other."""
    names: list[str] = []
    while True:
        page = await store.threads(wish)
        assert len(page.items) <= wish.limit
        names += [row.id for row in page.items]
        if page.next_cursor is None:
            return names
        wish = replace(wish, cursor=page.next_cursor)


async def question_names(store: Store, wish: Wish) -> list[str]:
    """Give all pages of a list of questions, one after the other."""
    names: list[str] = []
    while True:
        page = await store.questions(wish)
        assert len(page.items) <= wish.limit
        names += [row.id for row in page.items]
        if page.next_cursor is None:
            return names
        wish = replace(wish, cursor=page.next_cursor)


async def test_threads_come_newest_first_in_pages(store: Store) -> None:
    """Threads of the same moment have an order as well, and no page repeats or skips one."""
    for number in range(7):
        await committed(store, launching(f"t{number}", now=later(number // 3)))

    everything = ["t6", "t5", "t4", "t3", "t2", "t1", "t0"]
    assert everything == await thread_names(store, Wish())
    assert everything == await thread_names(store, Wish(limit=2))
    assert everything == await thread_names(store, Wish(limit=7))


async def test_page_stays_put_while_threads_are_added_and_change(store: Store) -> None:
    """A cursor names a place, not a number of rows."""
    for number in range(4):
        await committed(store, launching(f"t{number}", now=later(number)))
    page = await store.threads(Wish(limit=2))
    await committed(store, launching("t9", now=later(9)))
    await committed(store, Commit(thread=T1, status="failed", now=later(10)))

    rest = await store.threads(Wish(limit=2, cursor=page.next_cursor or ""))

    assert [row.id for row in page.items] == ["t3", "t2"]
    assert [row.id for row in rest.items] == ["t1", "t0"]
    assert rest.next_cursor is None


async def test_threads_are_filtered_by_status_and_agent(store: Store) -> None:
    """Both filters hold together, also over pages."""
    statuses: tuple[CachedStatus, ...] = ("waiting", "failed", "waiting", "finished", "waiting")
    for number, status in enumerate(statuses):
        agent = "release" if number == 2 else "support"
        commit = launching(f"t{number}", agent=agent, now=later(number))
        await committed(store, replace(commit, status=status))

    assert await thread_names(store, Wish(status="waiting", limit=1)) == ["t4", "t2", "t0"]
    assert await thread_names(store, Wish(agent="support", limit=2)) == ["t4", "t3", "t1", "t0"]
    assert await thread_names(store, Wish(status="waiting", agent="release")) == ["t2"]
    assert await thread_names(store, Wish(status="paused")) == []
    assert await thread_names(store, Wish(agent="no\0body")) == []


async def test_threads_of_one_requester_come_newest_first_in_pages(store: Store) -> None:
    """Theirs alone, also those of the same moment, and together with the other filters."""
    for number in range(8):
        requester = ("otto", "slack:T1:U2", "")[number % 3]
        agent = "release" if number == 3 else "support"
        commit = launching(
            f"t{number}",
            agent=agent,
            requester=requester,
            origin=f"slack:T1:C1:{number}",
            now=later(number // 4),
        )
        await committed(store, replace(commit, status="failed" if number == 4 else "waiting"))

    assert await thread_names(store, Wish(requester="otto")) == ["t6", "t3", "t0"]
    assert await thread_names(store, Wish(requester="otto", limit=1)) == ["t6", "t3", "t0"]
    assert await thread_names(store, Wish(requester="slack:T1:U2", limit=2)) == ["t7", "t4", "t1"]
    assert await thread_names(store, Wish(requester="slack:T1:U2", status="failed")) == ["t4"]
    assert await thread_names(store, Wish(requester="otto", agent="release")) == ["t3"]
    assert await thread_names(store, Wish(requester="slack:T1")) == []
    assert await thread_names(store, Wish(requester="ot\0to")) == []
    assert len(await thread_names(store, Wish())) == 8


async def test_threads_of_the_api_are_not_listed_by_their_requester(store: Store) -> None:
    """A channel lists what came by channels; what programs launch costs no index for it."""
    await committed(store, launching("t1", origin="web:t1"))
    await committed(store, launching("t2", origin="email:otto@example.com"))
    await committed(store, launching("t3", origin=""))

    assert await thread_names(store, Wish(requester="otto")) == ["t3", "t2"]


async def test_queued_is_a_status_of_its_own_at_a_given_time(store: Store) -> None:
    """Due and free is queued; leased, or due later, is what the log says."""
    for name, wake in (("due", -1), ("timer", 1), ("leased", -2)):
        await launched(store, name, wake_at=later(wake))
    await store.claim(now=NOW, lease_ms=LEASE, limit=1)

    assert await thread_names(store, Wish(status="queued", now=NOW)) == ["due"]
    assert await thread_names(store, Wish(status="running", now=NOW)) == ["timer", "leased"]
    assert await thread_names(store, Wish(status="running")) == ["timer", "leased", "due"]
    assert await thread_names(store, Wish(status="queued")) == []
    assert len(await thread_names(store, Wish(now=NOW))) == 3


@pytest.mark.parametrize(
    "cursor", ["nonsense", "ä", "====", "MTIz", "e30", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5IHg"]
)
async def test_cursor_that_no_list_gave_is_refused_or_harmless(store: Store, cursor: str) -> None:
    """What a client makes up is its own fault, never ours."""
    await launched(store)
    for listing in (store.threads, store.questions):
        try:
            page = await listing(Wish(cursor=cursor))
        except BadCursor:
            continue
        assert len(page.items) <= 1


async def test_question_is_found_wherever_it_was_asked(store: Store) -> None:
    """The index knows each question by its id alone."""
    asked = replace(
        question(body={"prompt": "Ja?", "options": ["ja", "nein"]}), expires_at=later(9)
    )
    await committed(store, replace(launching(), questions=[asked]))

    assert asked == await store.question(QuestionId("q1"))
    assert await store.question(QuestionId("q2")) is None
    assert await store.question(QuestionId("q\0")) is None


async def test_question_is_brought_up_to_date(store: Store) -> None:
    """A later commit of its thread replaces the row; its place in the list stays."""
    await committed(
        store, replace(launching(), questions=[question("q1"), question("q2", asked_at=later(1))])
    )
    settled = question("q1", status="answered", body={"answered_by": "otto"})
    await committed(store, Commit(thread=T1, questions=[settled], now=later(5)))

    assert settled == await store.question(QuestionId("q1"))
    assert await question_names(store, Wish()) == ["q1", "q2"]
    assert await question_names(store, Wish(status="open")) == ["q2"]
    assert await question_names(store, Wish(status="answered")) == ["q1"]


async def test_questions_come_oldest_first_in_pages(store: Store) -> None:
    """Who has waited longest is shown first; pages neither repeat nor skip."""
    await launched(store)
    for number in (3, 0, 2, 1):
        rows = [question(f"q{number}{n}", asked_at=later(number)) for n in (1, 0)]
        await committed(store, Commit(thread=T1, questions=rows, now=NOW))

    everything = ["q00", "q01", "q10", "q11", "q20", "q21", "q30", "q31"]
    assert everything == await question_names(store, Wish(limit=3))
    assert everything == await question_names(store, Wish(status="open", limit=3))
    assert everything == await question_names(store, Wish(limit=8))


async def test_questions_are_filtered_by_the_agent_that_asks(store: Store) -> None:
    """An approval queue may be for one agent only."""
    await committed(store, replace(launching("t1"), questions=[question("q1", "t1")]))
    await committed(
        store,
        replace(launching("t2", agent="release"), questions=[question("q2", "t2")]),
    )

    assert await question_names(store, Wish(agent="release")) == ["q2"]
    assert await question_names(store, Wish(agent="support", status="open")) == ["q1"]
    assert await question_names(store, Wish(agent="nobody")) == []


async def test_row_that_was_read_is_the_readers_own(store: Store) -> None:
    """Who changes what was read changes nothing that is stored."""
    await committed(
        store, replace(launching(wake_at=NOW), summary={"a": []}, questions=[question()])
    )
    claim = await claimed(store)
    row = await store.thread(T1)
    asked = await store.question(QuestionId("q1"))
    assert row is not None
    assert asked is not None

    row.summary["a"].append(1)
    asked.body.clear()

    again = await store.thread(ThreadId(claim.thread))
    assert again is not None
    assert again.summary == {"a": []}
    assert question() == await store.question(QuestionId("q1"))
