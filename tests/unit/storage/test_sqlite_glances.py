"""Reading a row at once, in the event loop: as true as any other way, and only what is short."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.thread.questions import QuestionId
from storage.errors import StoreUnreachable
from storage.sqlite import SqliteStore, threads
from storage.values import Snapshot
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    T2,
    committed,
    launched,
    launching,
    question,
    saying,
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Open a store on a new file."""
    opened = SqliteStore(tmp_path / "parley.db")
    await opened.open()
    yield opened
    await opened.close()


async def test_point_reads_wait_for_no_thread(store: SqliteStore) -> None:
    """All of them are answered before the loop turns once."""
    await launched(store, wake_at=NOW)
    turned = asyncio.Event()
    asyncio.get_running_loop().call_soon(turned.set)

    assert await store.thread(T1) is not None
    assert await store.load(T1) is not None
    assert await store.load(T1, after=1) is not None
    assert await store.question(QuestionId("q")) is None
    assert await store.inbox("web", "1") is None
    assert await store.queued(now=NOW) == 1
    assert await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=9) == []
    assert await store.halted() == ""

    assert not turned.is_set()


async def test_every_commit_is_seen_as_soon_as_it_is_acknowledged(store: SqliteStore) -> None:
    """Also by many who write and read at the same time."""

    async def write_and_read(number: int) -> None:
        name = launching(f"t{number}").thread
        await committed(store, launching(name))
        for seq in range(2, 30):
            assert await committed(store, saying(name, str(seq))) == seq
            row = await store.thread(name)
            assert row is not None
            assert row.seq == seq

    await asyncio.gather(*(write_and_read(number) for number in range(16)))


async def test_what_another_process_wrote_is_seen(store: SqliteStore, tmp_path: Path) -> None:
    """A command beside the server writes to the same file."""
    await launched(store)
    assert await store.question(QuestionId("q1")) is None
    beside = SqliteStore(tmp_path / "parley.db", shared=True)
    await beside.open()
    await committed(beside, launching("t2"))
    await beside.close()

    assert await store.thread(T2) is not None


async def test_long_thread_is_not_for_a_glance(store: SqliteStore, tmp_path: Path) -> None:
    """Neither many events nor a snapshot may hold the loop up; a few at the end may."""
    await launched(store)
    await committed(store, saying("t1", *(str(n) for n in range(100))))
    await launched(store, "t2")
    await store.save_snapshot(T2, Snapshot(1, b"x"))

    with closing(sqlite3.connect(tmp_path / "parley.db")) as db:
        assert not threads.is_short(db, T1, None)
        assert threads.is_short(db, T1, 60)
        assert not threads.is_short(db, T2, None)
        assert threads.is_short(db, T2, 0)
        assert not threads.is_short(db, launching("nobody").thread, None)

    loaded = await store.load(T1)
    assert loaded is not None
    assert len(loaded.events) == 101


async def test_glance_that_fails_is_left_to_the_readers(store: SqliteStore) -> None:
    """Their connections are other ones, and what they can't do is told in words."""
    await launched(store)
    await committed(store, saying("t1", "more"))
    near = store._db._near
    assert near is not None
    near.close()

    row = await store.thread(T1)

    assert row is not None
    assert row.seq == 2


async def test_closed_store_has_nothing_to_look_at(store: SqliteStore) -> None:
    """Nor does one that was never opened."""
    await committed(store, launching())
    await store.close()

    with pytest.raises(StoreUnreachable):
        await store.thread(T1)
    with pytest.raises(StoreUnreachable):
        await SqliteStore("never.db").question(question().id)
