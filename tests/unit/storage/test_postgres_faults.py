"""PostgreSQL goes away, comes back, blocks or refuses: what passes by itself, and what is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from msgspec.structs import replace

from agent_core.thread.events import MessageReceived, Millis, ThreadId, ThreadLaunched
from storage.errors import (
    BadStoreUrl,
    SchemaTooNew,
    SchemaTooOld,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from storage.postgres import PostgresStore, Tuning
from storage.postgres.failures import failure_of
from storage.values import Commit, Committed, Hint, NewThread
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.postgres_server import postgres_server

NOW = Millis(1_800_000_000_000)
T1 = ThreadId("t1")
LAUNCH = Commit(
    thread=T1,
    events=[ThreadLaunched(at=NOW, thread=T1, agent="support")],
    create=NewThread(agent="support"),
    wake_at=NOW,
    now=NOW,
)
MORE = Commit(thread=T1, events=[MessageReceived(at=NOW, text="more")], seen=1, now=NOW)


@asynccontextmanager
async def opened(url: str, tuning: Tuning | None = None) -> AsyncIterator[PostgresStore]:
    """Open a store for a while."""
    store = PostgresStore(url, tuning)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def beside(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Connect beside the store, to play the administrator."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Give a database with our tables."""
    async with postgres_url(upgraded) as clean:
        yield clean


async def cut(admin: asyncpg.Connection) -> None:
    """End every other connection to the database, and wait until they are gone."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    await admin.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}")


async def blocked(admin: asyncpg.Connection) -> None:
    """Wait until somebody waits for a lock."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    while not await admin.fetchval(query):
        await admin.execute("SELECT pg_sleep(0.01)")


async def test_connections_that_were_cut_are_made_anew(url: str) -> None:
    """Reads and writes go on, without a word."""
    async with opened(url) as store, beside(url) as admin:
        await store.commit(LAUNCH)
        await cut(admin)

        assert await store.commit(MORE) == Committed(2)
        await cut(admin)
        assert len(await store.events(T1)) == 2


async def test_hints_come_again_after_their_connection_was_cut(url: str) -> None:
    """And everybody is told to look, because hints may have been missed."""
    async with opened(url) as store, opened(url) as another, beside(url) as admin:
        wakes = aiter(another.wakes())
        await cut(admin)
        async with asyncio.timeout(10):
            missed = {await anext(wakes) for _ in range(3)}
            await store.commit(LAUNCH)

            assert missed == {Hint("*", 0), Hint("deliveries", 0), Hint("halt", 0)}
            assert await anext(wakes) == Hint(T1, 1)


async def test_read_that_was_cut_off_is_tried_again(url: str) -> None:
    """A read has no effect, so it may be repeated."""
    async with opened(url) as store, beside(url) as admin, beside(url) as watcher:
        await store.commit(LAUNCH)
        async with admin.transaction():
            await admin.execute("LOCK TABLE threads IN ACCESS EXCLUSIVE MODE")
            reading = asyncio.create_task(store.thread(T1))
            await blocked(watcher)
            await watcher.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock'"
            )

        row = await reading
        assert row is not None
        assert row.id == T1


async def test_commit_that_was_cut_off_is_not_tried_again(url: str) -> None:
    """It may have had its effect, so whoever asked is told, and looks."""
    async with opened(url) as store, beside(url) as admin, beside(url) as watcher:
        async with admin.transaction():
            await admin.execute("LOCK TABLE threads IN ACCESS EXCLUSIVE MODE")
            writing = asyncio.create_task(store.commit(LAUNCH))
            await blocked(watcher)
            await watcher.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event_type = 'Lock'"
            )
            with pytest.raises(StoreUnreachable):
                await writing

        assert await store.thread(T1) is None


async def test_work_goes_on_after_a_restart_and_after_a_crash() -> None:
    """What was acknowledged is there; what came meanwhile waits for the server."""
    with postgres_server(fsync=True) as server:
        await upgraded(server.url)
        async with opened(server.url, Tuning(patience_s=30)) as store:
            await store.commit(LAUNCH)
            await asyncio.to_thread(server.stop, "immediate")
            reading = asyncio.create_task(store.events(T1))
            writing = asyncio.create_task(store.commit(MORE))
            await asyncio.sleep(0)
            await asyncio.to_thread(server.start)

            assert len(await reading) in {1, 2}
            assert await writing == Committed(2)

            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
            assert [claim.seq for claim in await store.claim(now=NOW, lease_ms=9, limit=9)] == [2]


async def test_server_that_stays_away_is_told_of() -> None:
    """After some patience, with the driver's exception as the cause."""
    with postgres_server() as server:
        await upgraded(server.url)
        async with opened(server.url, Tuning(patience_s=0.1)) as store:
            await asyncio.to_thread(server.stop)

            with pytest.raises(StoreUnreachable) as told:
                await store.thread(T1)
            assert isinstance(told.value.__cause__, OSError)
            with pytest.raises(StoreUnreachable):
                await store.commit(LAUNCH)


async def test_statement_that_waits_too_long_is_stopped(url: str) -> None:
    """Nothing was written, and nobody waits for ever."""
    tuning = Tuning(statement_timeout_s=0.2, patience_s=0)
    async with opened(url, tuning) as store, beside(url) as admin:
        async with admin.transaction():
            await admin.execute("LOCK TABLE threads IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreBusy):
                await store.commit(LAUNCH)

        assert await store.commit(LAUNCH) == Committed(1)


async def test_read_only_server_is_told_of_and_looked_at_again() -> None:
    """After a failover the old connection stands on a standby: the next one may not."""
    async with postgres_url() as url, beside(url) as admin:
        await upgraded(url)
        name = await admin.fetchval("SELECT current_database()")
        await admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        async with opened(url) as store:
            with pytest.raises(StoreReadOnly):
                await store.commit(LAUNCH)

            await admin.execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
            assert await store.commit(LAUNCH) == Committed(1)


async def test_tables_of_another_version_are_refused() -> None:
    """None, older or newer: each says what to do."""
    async with postgres_url() as url, beside(url) as admin:
        with pytest.raises(SchemaTooOld, match="parley db upgrade"):
            await PostgresStore(url).open()

        await upgraded(url)
        await admin.execute("UPDATE alembic_version SET version_num = '9999'")
        await admin.execute("DELETE FROM settings")
        with pytest.raises(SchemaTooNew, match="9999"):
            await PostgresStore(url).open()

        await admin.execute("DELETE FROM alembic_version")
        with pytest.raises(SchemaTooOld):
            await PostgresStore(url).open()


async def test_address_that_leads_nowhere_is_told_of(url: str) -> None:
    """A wrong name and a missing server are different mistakes."""
    with pytest.raises(BadStoreUrl, match="no database"):
        await PostgresStore(url.replace("/parley_", "/nowhere_")).open()
    with pytest.raises(StoreUnreachable):
        await PostgresStore("postgresql://postgres@127.0.0.1:1/parley").open()
    with pytest.raises(BadStoreUrl):
        await PostgresStore("postgresql://host/name?target_session_attrs=perhaps").open()


async def test_store_that_was_closed_says_so_and_can_be_closed_again(url: str) -> None:
    """Closing twice is no error; using it afterwards is."""
    async with opened(url) as store:
        await store.close()

        with pytest.raises(StoreUnreachable):
            await store.commit(LAUNCH)
        with pytest.raises(StoreUnreachable):
            await store.queued(now=NOW)


async def test_value_that_no_column_holds_spoils_nothing_for_others(url: str) -> None:
    """They share a statement, but not their fate."""
    async with opened(url) as store:
        good = [replace(LAUNCH, thread=ThreadId(f"g{n}")) for n in range(5)]
        bad = replace(LAUNCH, thread=ThreadId("bad"), now=Millis(2**80))

        *fine, wrong = await asyncio.gather(
            *map(store.commit, good), store.commit(bad), return_exceptions=True
        )

        assert [Committed(1)] * 5 == fine
        assert isinstance(wrong, ValueError)


def test_full_disk_is_told_of() -> None:
    """It is the operator's to act, and trying again at once would not help."""
    failure = failure_of(asyncpg.DiskFullError("could not extend file"))

    assert isinstance(failure.error, StoreFull)
    assert not failure.is_passing


@pytest.mark.parametrize("kind", [asyncpg.SerializationError, asyncpg.DeadlockDetectedError])
def test_conflict_that_was_rolled_back_is_tried_again(kind: type[Exception]) -> None:
    """The server says itself that nothing was written."""
    failure = failure_of(kind("could not serialize"))

    assert failure.is_passing
    assert failure.is_without_effect
    assert isinstance(failure.error, StoreBusy)
