"""The connection breaks between a commit and its answer: whoever asked is told the truth."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from gateway.work.engine import EngineOptions
from storage.errors import Fenced, StoreUnreachable
from storage.postgres import PostgresStore, Tuning
from storage.values import Commit, Committed, Duplicate, InboxKey, InboxRecord
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    claimed,
    delivery,
    later,
    launched,
    launching,
    saying,
)
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.wire import Wire, wire


@pytest.fixture
async def line() -> AsyncIterator[Wire]:
    """Give a wire to a database with our tables."""
    async with postgres_url(upgraded) as url, wire(url) as made:
        yield made


@pytest.fixture
async def store(line: Wire) -> AsyncIterator[PostgresStore]:
    """Open a store at the end of the wire."""
    opened = PostgresStore(line.url, Tuning(patience_s=0.5))
    await opened.open()
    yield opened
    line.mend()
    await opened.close()


@asynccontextmanager
async def postgres_store(line: Wire) -> AsyncIterator[PostgresStore]:
    """Open a store on another machine, whose wire is sound."""
    async with wire(line.server) as sound:
        opened = PostgresStore(sound.url)
        await opened.open()
        yield opened
        await opened.close()


def is_commit(piece: bytes) -> bool:
    """Know the request that runs a commit: it brings the words of one of its events."""
    return b"MessageReceived" in piece or b"ThreadLaunched" in piece


def more(text: str, **about: Any) -> Commit:  # noqa: ANN401 (of Commit)
    """Say something after the launch."""
    return replace(saying("t1", text), seen=1, **about)


async def test_commit_that_was_written_is_told_so(line: Wire, store: PostgresStore) -> None:
    """The answer was lost, the events were not, and they are there once."""
    await launched(store)
    line.lose_answer_to(is_commit)

    result = await store.commit(more("hello"))

    assert line.lost.is_set()
    assert result == Committed(2)
    assert len(await store.events(T1)) == 2


async def test_launch_that_was_written_is_told_with_its_lease(
    line: Wire, store: PostgresStore
) -> None:
    """So the engine of this process has the thread at once, and nobody waits for the lease's end.

    The message's own record in the inbox is no reason to call it a copy.
    """
    line.lose_answer_to(is_commit)
    message = InboxKey(source="api", key="k1")
    launch = replace(launching(wake_at=NOW, inbox=message), seen=0, lease_ms=LEASE)

    assert await store.commit(launch) == Committed(1, 1)
    assert line.lost.is_set()
    assert await store.commit(launch) == Duplicate(InboxRecord(T1, 1, ""))


async def test_deliveries_of_a_commit_that_was_written_are_still_ours(
    line: Wire, store: PostgresStore
) -> None:
    """They are sent now, and not when their lease has run out."""
    await launched(store)
    line.lose_answer_to(is_commit)

    result = await store.commit(more("hello", deliveries=[delivery("d1")], send_lease_ms=LEASE))

    assert isinstance(result, Committed)
    assert [(one.id, one.epoch, one.attempts) for one in result.deliveries] == [("d1", 1, 1)]
    assert line.lost.is_set()


async def test_commit_that_was_not_written_is_made_again(line: Wire, store: PostgresStore) -> None:
    """The wire was cut before anything reached the server."""
    await launched(store)
    line.cut()
    writing = asyncio.create_task(store.commit(more("hello")))
    await asyncio.sleep(0.1)
    line.mend()

    assert await writing == Committed(2)


async def test_who_was_faster_is_not_taken_for_us(line: Wire, store: PostgresStore) -> None:
    """The answer was lost because we came too late: the events there are somebody else's."""
    await launched(store)
    await store.commit(more("theirs"))
    line.lose_answer_to(is_commit)

    with pytest.raises(Overtaken):
        await store.commit(more("ours"))
    assert len(await store.events(T1)) == 2


async def test_what_came_from_outside_is_given_up_after_some_patience(
    line: Wire, store: PostgresStore
) -> None:
    """Its sender is told to come again."""
    await launched(store)
    line.cut()

    with pytest.raises(StoreUnreachable):
        await store.commit(more("hello"))


async def test_what_a_worker_did_outlasts_any_outage(line: Wire, store: PostgresStore) -> None:
    """It may be the result of a tool that has had its effect."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    line.cut()
    writing = asyncio.create_task(store.commit(more("result", epoch=claim.epoch)))
    _, waiting = await asyncio.wait([writing], timeout=1.2)  # more than the patience
    assert waiting
    line.mend()

    assert await writing == Committed(2)


async def test_worker_who_was_replaced_meanwhile_is_fenced(
    line: Wire, store: PostgresStore
) -> None:
    """Somebody else has the thread, and what we did is not wanted any more."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    line.cut()
    writing = asyncio.create_task(store.commit(more("result", epoch=claim.epoch)))
    async with postgres_store(line) as another:
        [theirs] = await another.claim(now=later(LEASE + 1), lease_ms=LEASE, limit=1)
    line.mend()

    with pytest.raises(Fenced):
        await writing
    assert theirs.epoch == claim.epoch + 1


async def test_connection_that_went_dead_is_given_up(line: Wire) -> None:
    """A firewall has forgotten it: nobody says so, and other connections are well.

    What was asked on it is asked again on another one.
    """
    store = PostgresStore(line.url, Tuning(connections=1, statement_timeout_s=0.4))
    await store.open()
    await launched(store)
    line.forget()

    async with asyncio.timeout(5):
        assert await store.commit(more("hello")) == Committed(2)
        assert len(await store.events(T1)) == 2
    line.reset()
    await store.close()


def test_dead_connection_costs_no_lease() -> None:
    """It is given up before the leases end that were to be renewed on it."""
    assert Tuning().statement_timeout_s * 1.5 * 1000 <= EngineOptions().lease_ms / 2
