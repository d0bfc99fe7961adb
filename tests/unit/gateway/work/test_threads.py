"""A thread in the store: read from its snapshot, committed with its consequences, copied."""

from __future__ import annotations

import pytest

from agent_core import Waiting, call, calls, says
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import (
    Event,
    MessageReceived,
    Millis,
    QuestionAnswered,
    ThreadId,
    ThreadPaused,
    ToolStarted,
)
from agent_core.thread.fold import fold
from agent_core.thread.questions import CallKey
from agent_core.thread.state import ThreadState
from gateway.work.consequences import question_row
from gateway.work.threads import (
    commit_fork,
    commit_import,
    commit_outside,
    keep_snapshot,
    read_on,
    read_thread,
    work_commit,
)
from storage.errors import Fenced
from storage.memory import MemoryStore
from storage.store import Store
from storage.values import KEEP, NewThread, Snapshot
from tests.unit.gateway.logs_of_threads import NOW, Log, asking

T1, T2 = ThreadId("th_1"), ThreadId("th_2")
NEW = NewThread(agent="agent", origin="web:th_1", requester="lisa")


async def opened() -> MemoryStore:
    """Give an empty store."""
    store = MemoryStore()
    await store.open()
    return store


async def stored(log: Log) -> MemoryStore:
    """Put a log into a store, as if it had come in one piece from outside."""
    store = await opened()
    await commit_outside(store, ThreadState(), log.events, now=NOW, create=NEW)
    return store


def said(number: int) -> list[Event]:
    """Say many things."""
    return [MessageReceived(at=NOW, text=str(one)) for one in range(number)]


async def state_of(store: Store, thread: ThreadId) -> ThreadState:
    """Read a thread that must be there."""
    found = await read_thread(store, thread)
    assert found is not None
    return found.state


async def test_row_questions_and_outbox_come_with_the_events() -> None:
    """One commit: the list, the index, the queue and the outbox agree with the log."""
    log = await asking()
    store = await stored(log)
    row, state = await store.thread(T1), fold(log.events)
    rows = [await store.question(key) for key in log.open]
    outbox = await store.deliveries(T1)

    assert row is not None
    assert (row.status, row.seq, row.wake_at) == ("waiting", len(log.events), None)
    assert rows == [question_row(state, key) for key in log.open]
    assert [one.question for one in outbox] == log.open


async def test_commit_on_an_old_state_changes_nothing() -> None:
    """First come, first served."""
    log = await asking()
    store = await stored(log)
    old = fold(log.events)
    await commit_outside(store, old, said(1), now=NOW)
    with pytest.raises(Overtaken):
        await commit_outside(store, old, said(1), now=NOW)

    assert (await state_of(store, T1)).seq == old.seq + 1


async def test_answer_from_outside_makes_the_thread_due() -> None:
    """In the same commit, so that it can't be answered and not go on."""
    log = await asking()
    store = await stored(log)
    for key in log.open:
        state = await state_of(store, T1)
        answered = QuestionAnswered(at=NOW, question=key, value={"approved": False})
        await commit_outside(store, state, [answered], now=Millis(NOW + 5))
    row = await store.thread(T1)

    assert row is not None
    assert (row.status, row.wake_at) == ("running", NOW + 5)


async def test_work_is_fenced_and_leaves_the_queue_alone() -> None:
    """The lease says that it is at work; the release says what comes next."""
    store = await opened()
    log = await asking()
    await commit_outside(store, ThreadState(), log.events[:2], now=NOW, create=NEW)
    (claim,) = await store.claim(now=NOW, lease_ms=1000, limit=1)
    state = await state_of(store, T1)
    after = fold(said(1), onto=state)
    await store.commit(work_commit(said(1), after, now=NOW, epoch=claim.epoch))
    more = fold(said(1), onto=after)
    with pytest.raises(Fenced):
        await store.commit(work_commit(said(1), more, now=NOW, epoch=claim.epoch - 1))
    row = await store.thread(T1)

    assert row is not None
    assert (row.seq, row.wake_at, after) == (3, NOW, await state_of(store, T1))


async def test_work_that_leaves_nothing_to_do_may_give_the_lease_back() -> None:
    """At the next timer it is due again; while a tool runs, nobody lets go."""
    log = await asking(waiting=Waiting(remind_after=10))
    asked = [*log.events[2:]]
    state = fold(log.events)
    rests = work_commit(asked, state, now=NOW, epoch=1, may_release=True)
    held = work_commit(asked, state, now=NOW, epoch=1)
    started = ToolStarted(at=NOW, call=CallKey("3.0"), key="k")
    worked = await asking(calls(call("look")), says("done"))
    running = [*worked.events[:3], started, ThreadPaused(at=NOW)]
    paused = work_commit([running[-1]], fold(running), now=NOW, epoch=1, may_release=True)

    assert (rests.release, rests.wake_at) == (True, NOW + 10_000)
    assert (held.release, held.wake_at) == (False, KEEP)
    assert (paused.release, paused.wake_at) == (False, KEEP)


async def test_snapshot_is_kept_when_it_is_worth_it() -> None:
    """After 200 events more than the last; the sum is the same with it and without."""
    log = await asking()
    store = await stored(log)
    state = await state_of(store, T1)
    await keep_snapshot(store, fold(said(199 - state.seq), onto=state), 0)
    loaded = await store.load(T1)
    assert loaded is not None
    assert loaded.snapshot is None

    await commit_outside(store, state, said(250), now=NOW)
    state = await state_of(store, T1)
    await keep_snapshot(store, state, 0)
    await commit_outside(store, state, said(3), now=NOW)
    found = await read_thread(store, T1)

    assert found is not None
    assert found.snapshot_seq == state.seq
    assert found.state == fold(await store.events(T1))
    assert await read_on(store, state) == found.state
    assert await read_on(store, found.state) is found.state


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00",
        b"[]",
        b'{"fold": 1}',
        b'{"fold": 999, "state": {}}',
        b'{"state": {"seq": "many"}}',
    ],
)
async def test_snapshot_that_cannot_be_read_is_passed_over(body: bytes) -> None:
    """Other code wrote it; the log is what counts, and the next snapshot is written anew."""
    log = await asking()
    store = await stored(log)
    await store.save_snapshot(T1, Snapshot(4, body))
    found = await read_thread(store, T1)

    assert found is not None
    assert (found.state, found.snapshot_seq) == (fold(log.events), 0)


async def test_thread_that_is_not_there_is_none() -> None:
    """Looking is no error."""
    assert await read_thread(await opened(), T1) is None


async def test_fork_takes_over_nothing_of_the_originals() -> None:
    """Its questions alone are indexed and told of; the original's stay as they are."""
    log = await asking()
    store = await stored(log)
    before = [await store.question(key) for key in log.open]
    copy = log.forked()
    await commit_fork(store, copy.events, copied=len(log.events), now=NOW, create=NEW)
    anew = [await store.question(key) for key in copy.open]

    assert [await store.question(key) for key in log.open] == before
    assert {row.thread for row in anew if row} == {T2}
    assert [one.question for one in await store.deliveries(T2)] == copy.open


async def test_import_brings_its_questions_and_says_nothing() -> None:
    """People have heard of them where it comes from."""
    log = await asking()
    store = await opened()
    await commit_import(store, log.events, now=NOW, create=NEW)

    assert [row.status for key in log.open if (row := await store.question(key))] == ["open"] * 2
    assert await store.deliveries(T1) == []


async def test_import_of_a_fork_leaves_the_originals_questions_to_the_original() -> None:
    """Whichever comes first."""
    log = await asking()
    copy = log.forked()
    for first, second in ((log, copy), (copy, log)):
        store = await opened()
        await commit_import(store, first.events, now=NOW, create=NEW)
        await commit_import(store, second.events, now=NOW, create=NEW)

        assert [row.thread for key in log.open if (row := await store.question(key))] == [T1] * 2
        assert [row.thread for key in copy.open if (row := await store.question(key))] == [T2] * 2
