"""One write: what it changes, and that it is all or nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import ThreadId, ThreadLaunched
from storage.errors import IdTaken, StoreError, ThreadKeyTaken, UnknownThread
from storage.store import Store
from storage.values import Commit, Committed, InboxKey, NewThread, ThreadRow, Wish
from tests.contract.stores.rows import (
    NOW,
    T1,
    T2,
    committed,
    delivery,
    later,
    launched,
    launching,
    question,
    said,
    saying,
)


async def test_first_commit_makes_the_thread_with_all_that_lists_know(store: Store) -> None:
    """The row caches the commit: who, where from, how far, and when."""
    commit = Commit(
        thread=T1,
        events=[ThreadLaunched(at=NOW, thread=T1, agent="support"), said("hello")],
        create=NewThread(agent="support", origin="web:1", requester="otto", thread_key="k"),
        status="waiting",
        summary={"metadata": {"team": "ä"}},
        wake_at=later(5),
        now=NOW,
    )

    result = await store.commit(commit)

    assert Committed(2) == result
    assert ThreadRow(
        id=T1,
        agent="support",
        status="waiting",
        origin="web:1",
        requester="otto",
        thread_key="k",
        seq=2,
        handled_seq=0,
        wake_at=later(5),
        lease_until=None,
        epoch=0,
        summary={"metadata": {"team": "ä"}},
        created_at=NOW,
        updated_at=NOW,
    ) == await store.thread(T1)


async def test_later_commit_changes_only_what_it_names(store: Store) -> None:
    """Without a status, a summary or a wake, these stay; the time of the change is kept."""
    await committed(
        store,
        replace(launching(), status="paused", summary={"a": 1}, wake_at=later(9)),
    )

    await committed(store, saying("t1", "more", now=later(3)))
    row = await store.thread(T1)

    assert row is not None
    assert ("paused", {"a": 1}, later(9)) == (row.status, row.summary, row.wake_at)
    assert (NOW, later(3), 2) == (row.created_at, row.updated_at, row.seq)


async def test_wake_can_be_taken_back(store: Store) -> None:
    """`None` is a value: nothing is due any more."""
    await launched(store, wake_at=NOW)

    await committed(store, Commit(thread=T1, wake_at=None, now=NOW))

    assert await store.queued(now=later(1)) == 0


async def test_new_thread_runs_unless_said_otherwise(store: Store) -> None:
    """Without a status a thread begins as running."""
    await launched(store)

    row = await store.thread(T1)

    assert row is not None
    assert row.status == "running"


async def test_commit_without_events_leaves_the_log_alone(store: Store) -> None:
    """A change of what is cached is a commit, too."""
    await launched(store)

    seq = await committed(store, Commit(thread=T1, summary={"result": "done"}, now=NOW))

    row = await store.thread(T1)
    assert row is not None
    assert (seq, row.summary) == (1, {"result": "done"})


async def test_append_to_a_thread_that_is_not_there_is_refused(store: Store) -> None:
    """Only `create` makes a thread."""
    with pytest.raises(UnknownThread):
        await store.commit(saying("nobody", "hello"))

    assert await store.events(ThreadId("nobody")) == []


async def test_thread_begins_once(store: Store) -> None:
    """To begin a thread that is there is to be overtaken: its log is not empty."""
    await launched(store)

    with pytest.raises(Overtaken):
        await store.commit(launching())

    assert len(await store.events(T1)) == 1


async def test_thread_key_is_unique_for_its_agent(store: Store) -> None:
    """A pipeline's later event finds the thread in place of making a second one."""
    await committed(store, launching("t1", key="repo/1"))

    with pytest.raises(ThreadKeyTaken):
        await store.commit(launching("t2", key="repo/1"))

    found = await store.thread_by_key("support", "repo/1")
    assert found is not None
    assert found.id == T1
    assert await store.thread(T2) is None


async def test_other_agents_may_have_the_same_key_and_many_threads_none(store: Store) -> None:
    """The key is the agent's, and an empty one is no key."""
    await committed(store, launching("t1", key="repo/1"))
    await committed(store, launching("t2", agent="release", key="repo/1"))
    await committed(store, launching("t3"))
    await committed(store, launching("t4"))

    found = await store.thread_by_key("release", "repo/1")

    assert found is not None
    assert found.id == T2
    assert await store.thread_by_key("support", "") is None
    assert await store.thread_by_key("support", "repo/2") is None


async def test_part_that_fails_undoes_all_of_it(store: Store) -> None:
    """A question of another thread's id comes last, and the events before it are not there."""
    await committed(store, replace(launching("t1"), questions=[question("q1", "t1")]))
    await launched(store, "t2")
    commit = Commit(
        thread=T2,
        events=[said("one"), said("two")],
        status="waiting",
        summary={"x": 1},
        wake_at=NOW,
        deliveries=[delivery("d1")],
        questions=[question("q2", "t2"), question("q1", "t2")],
        inbox=InboxKey(source="web", key="k1"),
        now=later(7),
    )

    with pytest.raises(IdTaken):
        await store.commit(commit)

    row = await store.thread(T2)
    assert row is not None
    assert (
        row.seq,
        row.status,
        row.summary,
        row.wake_at,
        row.updated_at,
    ) == (1, "running", {}, None, NOW)
    assert len(await store.events(T2)) == 1
    assert [q.id for q in (await store.questions(Wish())).items] == ["q1"]
    assert await store.deliveries(T2) == []
    assert await store.inbox("web", "k1") is None


async def test_failing_launch_leaves_no_thread(store: Store) -> None:
    """All or nothing holds for the first commit as well."""
    again = replace(
        launching("t2", key="k", inbox=InboxKey(source="web", key="k1")),
        deliveries=[delivery("d1"), delivery("d2"), delivery("d1")],
    )

    with pytest.raises(IdTaken):
        await store.commit(again)

    assert await store.thread(T2) is None
    assert await store.thread_by_key("support", "k") is None
    assert await store.load(T2) is None
    assert await store.deliveries(T2) == []
    assert await store.inbox("web", "k1") is None


async def test_same_delivery_twice_in_one_commit_is_refused(store: Store) -> None:
    """A delivery's id is its own within the thread."""
    with pytest.raises(IdTaken):
        await store.commit(replace(launching(), deliveries=[delivery("d1"), delivery("d1")]))

    assert await store.thread(T1) is None


@pytest.mark.parametrize(
    "commit",
    [
        saying("t1", "a\0b"),
        saying("t1", "\ud800"),
        Commit(thread=T1, summary={"a": ["\0"]}, now=NOW),
        Commit(thread=T1, summary={"a": object()}, now=NOW),
        Commit(thread=T1, questions=[question(body={"\0": 1})], now=NOW),
        Commit(thread=T1, deliveries=[delivery("d", "slack:\0")], now=NOW),
        Commit(thread=T1, inbox=InboxKey(source="web", key="\udfff"), now=NOW),
        launching("t2", key="\0"),
        launching("t\0"),
    ],
)
async def test_what_no_database_stores_is_refused_before_anything_changes(
    store: Store, commit: Commit
) -> None:
    """NUL, halves of surrogate pairs and Python objects are named, not written."""
    await launched(store)

    with pytest.raises(NotJson):
        await store.commit(commit)

    assert len(await store.events(T1)) == 1
    assert len((await store.threads(Wish())).items) == 1


async def test_question_of_another_thread_than_the_commit_is_our_bug(store: Store) -> None:
    """Each write touches one thread."""
    await launched(store)

    with pytest.raises(ValueError, match="another thread"):
        await store.commit(Commit(thread=T1, questions=[question("q1", "t2")], now=NOW))


async def test_closed_store_says_so(store: Store) -> None:
    """After closing, a write is refused in words; closing again changes nothing."""
    await store.close()
    await store.close()

    with pytest.raises(StoreError, match="closed"):
        await store.commit(launching())
