"""Writing to SQLite: together, apart, and into a full disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import MessageReceived
from storage.errors import IdTaken, StoreError, StoreFull
from storage.sqlite import SqliteStore
from storage.values import Committed, InboxKey
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    committed,
    delivery,
    launched,
    launching,
    question,
    saying,
)

_SMALL = 120  # pages


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Open a store on a new file."""
    opened = SqliteStore(tmp_path / "parley.db")
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Open a store whose disk is nearly full."""
    opened = SqliteStore(tmp_path / "parley.db", max_pages=_SMALL)
    await opened.open()
    yield opened
    await opened.close()


async def test_one_that_fails_takes_nobody_along(store: SqliteStore) -> None:
    """Of a batch, each write stands or falls by itself."""
    await launched(store)

    results = await asyncio.gather(
        store.commit(launching("a")),
        store.commit(replace(saying("t1", "x"), seen=9)),
        store.commit(launching("b")),
        store.commit(saying("nobody", "x")),
        store.commit(launching("c")),
        return_exceptions=True,
    )

    assert [Committed(1)] * 3 == list(results[::2])
    assert isinstance(results[1], Overtaken)
    assert isinstance(results[3], StoreError)


async def test_one_that_fails_half_way_takes_only_its_own_back(store: SqliteStore) -> None:
    """It had written its events before the id of its delivery was found to be taken."""
    await launched(store)
    bad = replace(saying("t1", "lost"), deliveries=[delivery("d1"), delivery("d1")])

    results = await asyncio.gather(
        *(store.commit(saying("t1", f"before {n}")) for n in range(3)),
        store.commit(bad),
        *(store.commit(saying("t1", f"after {n}")) for n in range(3)),
        return_exceptions=True,
    )

    log = await store.events(T1, after=1)
    assert [type(result) for result in results] == [Committed] * 3 + [IdTaken] + [Committed] * 3
    assert [e.text for e in log if isinstance(e, MessageReceived)] == [
        *(f"before {n}" for n in range(3)),
        *(f"after {n}" for n in range(3)),
    ]
    assert await store.deliveries(T1) == []


async def test_full_disk_is_told_and_the_thread_stays_as_it_was(small: SqliteStore) -> None:
    """Nothing of the write is there, nothing else is lost, and smaller things still fit."""
    await launched(small, wake_at=NOW)
    big = replace(
        saying("t1", "x" * 1_000_000),
        inbox=InboxKey(source="web", key="1"),
        questions=[question()],
        deliveries=[delivery()],
        status="failed",
    )

    with pytest.raises(StoreFull, match="no room left"):
        await small.commit(big)

    row = await small.thread(T1)
    assert row is not None
    assert (row.seq, row.status) == (1, "running")
    assert await small.inbox("web", "1") is None
    assert await small.deliveries(T1) == []
    assert await committed(small, saying("t1", "small")) == 2
    assert len(await small.claim(now=NOW, lease_ms=LEASE, limit=9)) == 1


async def test_big_write_into_a_full_disk_spoils_no_other_in_its_batch(small: SqliteStore) -> None:
    """SQLite gives the whole transaction up, so the others are written anew."""
    await launched(small)

    results = await asyncio.gather(
        *(committed(small, saying("t1", f"before {n}")) for n in range(5)),
        small.commit(saying("t1", "x" * 1_000_000)),
        *(committed(small, saying("t1", f"after {n}")) for n in range(5)),
        return_exceptions=True,
    )

    log = await small.events(T1, after=1)
    assert [type(result) for result in results].count(StoreFull) == 1
    assert [e.text for e in log if isinstance(e, MessageReceived)] == [
        *(f"before {n}" for n in range(5)),
        *(f"after {n}" for n in range(5)),
    ]


async def test_disk_that_fills_up_keeps_everything_that_was_acknowledged(
    small: SqliteStore, tmp_path: Path
) -> None:
    """Up to the last page: what was promised is there, also for the next process."""
    await launched(small)
    written = 0
    try:
        for _ in range(1000):
            written = await committed(small, saying("t1", "x" * 3000))
    except StoreFull:
        await small.close()

    again = SqliteStore(tmp_path / "parley.db")
    await again.open()
    try:
        assert len(await again.events(T1)) == written
    finally:
        await again.close()


async def test_cancelled_claim_leaves_nothing_leased(store: SqliteStore) -> None:
    """Who no longer wants it does not get it: a lease that nobody has would stall a thread."""
    await launched(store, wake_at=NOW)
    others = [asyncio.create_task(store.commit(launching(f"x{n}"))) for n in range(20)]
    claim = asyncio.create_task(store.claim(now=NOW, lease_ms=LEASE, limit=9))
    await asyncio.sleep(0)
    claim.cancel()
    await asyncio.gather(*others)

    with pytest.raises(asyncio.CancelledError):
        await claim
    # A claim that had begun could not be stopped any more; one that had not was left out.
    row = await store.thread(T1)
    assert row is not None
    assert row.epoch in {0, 1}
    assert await committed(store, saying("t1", "on we go")) == 2
