"""The log: read whole, in pieces, or from a snapshot; and what it may hold."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.thread.events import (
    ChosenCall,
    Event,
    MessageReceived,
    Millis,
    ModelReplied,
    ThreadId,
    ThreadLaunched,
)
from agent_core.thread.usage import Usage
from storage.errors import UnknownThread
from storage.store import Store
from storage.values import Commit, Snapshot, Wish
from tests.contract.stores.rows import (
    NOW,
    T1,
    claimed,
    committed,
    delivery,
    later,
    launched,
    launching,
    question,
    said,
    saying,
)


def texts(events: object) -> list[str]:
    """Give what was said."""
    assert isinstance(events, list)
    return [event.text for event in events if isinstance(event, MessageReceived)]


async def test_events_come_back_as_they_were(store: Store) -> None:
    """Types, order, nesting and defaults."""
    call = ChosenCall("refund", {"order": 1, "lines": [{"a": None}, 2.5, True]}, signature="s")
    events: list[Event] = [
        ThreadLaunched(at=NOW, thread=T1, agent="support", metadata={"k": [1, {"ü": "✓"}]}),
        said("hello"),
        ModelReplied(at=later(1), text="ok", calls=(call,), usage=Usage(3, 4)),
    ]
    await committed(store, replace(launching(), events=events))

    loaded = await store.load(T1)

    assert loaded is not None
    assert events == loaded.events == await store.events(T1)
    assert (loaded.row.seq, loaded.snapshot) == (3, None)


async def test_log_is_read_in_pieces(store: Store) -> None:
    """After an event, and at most as many as asked for."""
    await launched(store)
    await committed(store, saying("t1", *(str(n) for n in range(2, 12))))

    assert texts(await store.events(T1, after=1, limit=3)) == ["2", "3", "4"]
    assert texts(await store.events(T1, after=9, limit=3)) == ["10", "11"]
    assert await store.events(T1, after=11) == []
    assert await store.events(T1, after=99) == []
    assert await store.events(ThreadId("nobody")) == []


async def test_thread_that_is_not_there_is_none(store: Store) -> None:
    """Looking is no error, whatever the id looks like."""
    for name in ("nobody", "", "a\0b", "\ud800", "x" * 10_000, "' OR 1=1 --"):
        thread = ThreadId(name)
        assert await store.thread(thread) is None
        assert await store.load(thread) is None
        assert await store.events(thread) == []
        assert await store.deliveries(thread) == []
        assert await store.thread_by_key("support", name) is None


async def test_load_begins_after_the_newest_snapshot(store: Store) -> None:
    """What a snapshot holds is not read again."""
    await launched(store)
    await committed(store, saying("t1", "2", "3", "4"))
    await store.save_snapshot(T1, Snapshot(2, b"\x00two\xff"))

    loaded = await store.load(T1)

    assert loaded is not None
    assert Snapshot(2, b"\x00two\xff") == loaded.snapshot
    assert texts(loaded.events) == ["3", "4"]
    assert loaded.row.seq == 4


async def test_only_the_newest_snapshot_counts(store: Store) -> None:
    """One that comes late does not replace a newer one."""
    await launched(store)
    await committed(store, saying("t1", "2", "3"))
    await store.save_snapshot(T1, Snapshot(3, b"three"))
    await store.save_snapshot(T1, Snapshot(2, b"two"))

    loaded = await store.load(T1)

    assert loaded is not None
    assert (Snapshot(3, b"three"), []) == (loaded.snapshot, loaded.events)


async def test_load_after_an_event_needs_no_snapshot(store: Store) -> None:
    """Who has a state asks only for what has come since."""
    await launched(store)
    await committed(store, saying("t1", "2", "3"))
    await store.save_snapshot(T1, Snapshot(3, b"three"))

    loaded = await store.load(T1, after=2)
    whole = await store.load(T1, after=0)

    assert loaded is not None
    assert (loaded.snapshot, texts(loaded.events)) == (None, ["3"])
    assert whole is not None
    assert len(whole.events) == 3


async def test_snapshot_of_a_thread_that_is_not_there_is_refused(store: Store) -> None:
    """A snapshot adds up events; without a thread there are none."""
    with pytest.raises(UnknownThread):
        await store.save_snapshot(ThreadId("nobody"), Snapshot(1, b""))


async def test_log_may_be_long(store: Store) -> None:
    """Ten thousand events come back in order, whole and in pieces."""
    await launched(store)
    for start in range(0, 10_000, 2_500):
        await committed(store, saying("t1", *(str(n) for n in range(start, start + 2_500))))

    loaded = await store.load(T1)

    assert loaded is not None
    assert [str(n) for n in range(10_000)] == texts(loaded.events)
    assert texts(await store.events(T1, after=9_000, limit=2)) == ["8999", "9000"]


async def test_values_may_be_big_and_of_any_script(store: Store) -> None:
    """A megabyte of text, all planes of Unicode, control characters, numbers at the edge."""
    big = "ä✓🦜" * 120_000
    odd = '\u0001\u001f"\\/\u2028\ufeff\uffff\U0010ffff e\u0301'
    summary = {"big": big, odd: [odd, 2**53, -(2**63), 1e308, 5e-324, None, True]}
    await committed(
        store,
        replace(
            launching(wake_at=NOW),
            events=[said(big), said(odd)],
            summary=summary,
            questions=[question(body=summary)],
            deliveries=[replace(delivery(), body=summary)],
        ),
    )
    await store.save_snapshot(T1, Snapshot(1, b"\x00" * 1_000_000))

    loaded = await store.load(T1, after=0)
    [sent] = await store.claim_deliveries(now=NOW, lease_ms=1, limit=1)

    assert loaded is not None
    assert [big, odd] == texts(loaded.events)
    assert summary == loaded.row.summary == sent.body
    assert [summary] == [row.body for row in (await store.questions(Wish())).items]


async def test_times_may_be_far_away(store: Store) -> None:
    """Before 1970, and after the year 9999."""
    past, future = Millis(-62_135_596_800_000), Millis(253_402_300_800_000)
    await committed(store, launching("old", wake_at=past, now=past))
    await committed(store, launching("new", wake_at=future, now=future))

    assert (await claimed(store, Millis(0))).thread == "old"
    assert [c.thread for c in await store.claim(now=future, lease_ms=1, limit=1)] == ["old"]
    assert (await claimed(store, future)).thread == "new"
    page = await store.threads(Wish(limit=1))
    rest = await store.threads(Wish(cursor=page.next_cursor or ""))
    assert [row.id for row in page.items + rest.items] == ["new", "old"]


async def test_commit_may_hold_many_parts(store: Store) -> None:
    """Hundreds of events, questions and deliveries are still one write."""
    await committed(
        store,
        Commit(
            thread=T1,
            events=[said(str(n)) for n in range(700)],
            create=launching().create,
            questions=[question(f"q{n}") for n in range(300)],
            deliveries=[delivery(f"d{n}") for n in range(300)],
            now=NOW,
        ),
    )

    assert len(await store.events(T1)) == 700
    assert len((await store.questions(Wish(limit=1000))).items) == 300
    assert [f"d{n}" for n in range(300)] == [row.id for row in await store.deliveries(T1)]
