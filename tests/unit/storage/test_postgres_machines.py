"""Many processes on one PostgreSQL: they share the work and never each other's threads."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import asyncpg
import pytest

from agent_core.thread.events import MessageReceived, Millis, ThreadId, ThreadLaunched
from storage.errors import Fenced, IdTaken
from storage.postgres import PostgresStore
from storage.postgres.saying import read_hints
from storage.values import Commit, Committed, DeliveryId, NewDelivery, NewThread
from tests.doubles.postgres import postgres_url, upgraded

NOW = Millis(1_800_000_000_000)
LEASE = 1_000

_WORKER = """
import asyncio, sys
from storage.postgres import PostgresStore
from storage.postgres.saying import read_hints

async def work(url, now):
    store = PostgresStore(url)
    await store.open()
    print("ready", flush=True)
    sys.stdin.readline()
    while claims := await store.claim(now=now, lease_ms=60_000, limit=3):
        for claim in claims:
            print(claim.thread, claim.epoch, flush=True)
    await store.close()

asyncio.run(work(sys.argv[1], int(sys.argv[2])))
"""


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Give a database with our tables."""
    async with postgres_url(upgraded) as clean:
        yield clean


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    """Open a store on it."""
    opened = PostgresStore(url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def another(url: str) -> AsyncIterator[PostgresStore]:
    """Open a second, as another machine would."""
    opened = PostgresStore(url)
    await opened.open()
    yield opened
    await opened.close()


def launching(name: str) -> Commit:
    """Begin a thread that is due."""
    thread = ThreadId(name)
    return Commit(
        thread=thread,
        events=[ThreadLaunched(at=NOW, thread=thread, agent="support")],
        create=NewThread(agent="support"),
        wake_at=NOW,
        now=NOW,
    )


async def _worker(url: str) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", _WORKER, url, str(NOW)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def test_processes_claim_different_threads(url: str, store: PostgresStore) -> None:
    """Three processes, 200 threads: each is leased once, by one of them."""
    names = [f"t{number:03}" for number in range(200)]
    await asyncio.gather(*(store.commit(launching(name)) for name in names))
    workers = await asyncio.gather(*(_worker(url) for _ in range(3)))

    outputs = await asyncio.gather(*(worker.communicate(b"go\n") for worker in workers))
    claimed = [line.decode() for out, _ in outputs for line in out.splitlines()]

    assert [f"{name} 1" for name in names] == sorted(claimed)
    assert all(worker.returncode == 0 for worker in workers)


async def test_zombie_can_write_nothing(store: PostgresStore, another: PostgresStore) -> None:
    """Its lease ran out while it was frozen, and somebody else has the thread."""
    await store.commit(launching("t1"))
    [mine] = await store.claim(now=NOW, lease_ms=LEASE, limit=1)
    later = Millis(NOW + LEASE)
    [theirs] = await another.claim(now=later, lease_ms=LEASE, limit=1)
    words = [MessageReceived(at=later, text="boo")]

    with pytest.raises(Fenced):
        await store.commit(Commit(thread=mine.thread, events=words, epoch=mine.epoch, now=later))
    assert await store.renew([mine], now=later, lease_ms=LEASE) == []
    assert not await store.release(mine, handled_seq=1, wake_at=None)
    assert len(await another.events(theirs.thread)) == 1
    fine = Commit(thread=theirs.thread, events=words, epoch=theirs.epoch, now=later)
    assert await another.commit(fine) == Committed(2)


async def test_many_hints_are_said_in_few_notifications(url: str, store: PostgresStore) -> None:
    """NOTIFY takes a lock that is global to the database: what gathers is said together."""
    payloads: asyncio.Queue[str] = asyncio.Queue()
    listener = await asyncpg.connect(url)
    await listener.add_listener("parley", lambda *about: payloads.put_nowait(about[3]))
    names = {f"t{number}" for number in range(40)}
    await asyncio.gather(*(store.commit(launching(name)) for name in names))
    heard: list[str] = []
    topics: set[str] = set()
    async with asyncio.timeout(10):
        while topics != names:
            heard.append(await payloads.get())
            topics |= {hint.topic for hint in read_hints(heard[-1])}
    await listener.close()

    assert len(heard) <= 3


async def test_process_hears_of_its_own_commit_at_once_and_only_once(store: PostgresStore) -> None:
    """Its own notification comes later, and would only make everybody look again."""
    wakes = aiter(store.wakes())
    await store.commit(launching("t1"))
    async with asyncio.timeout(0.05):
        first = await anext(wakes)
    await store.set_halt("which comes after our own notification")
    async with asyncio.timeout(10):
        second = await anext(wakes)

    assert (first.topic, second.topic) == ("t1", "halt")


async def test_too_many_hints_for_one_notification_become_a_call_to_look(
    store: PostgresStore, another: PostgresStore
) -> None:
    """PostgreSQL takes 8,000 bytes at the most; more must not fail the commits."""
    wakes = aiter(another.wakes())
    names = [f"{'long' * 60}{number}" for number in range(60)]

    results = await asyncio.gather(*(store.commit(launching(name)) for name in names))

    assert [Committed(1)] * 60 == results
    async with asyncio.timeout(10):
        while (await anext(wakes)).topic != "*":
            pass


async def test_taken_id_spoils_nothing_for_others(store: PostgresStore) -> None:
    """Ten commits share a statement; one of them names a delivery that is there already."""
    await store.commit(launching("t1"))

    def telling(name: str, delivery: str) -> Commit:
        news = NewDelivery(id=DeliveryId(delivery), address="web:1", body={}, due_at=NOW)
        return Commit(thread=ThreadId(name), deliveries=[news], now=NOW)

    await store.commit(telling("t1", "d1"))
    results = await asyncio.gather(
        *(store.commit(launching(f"n{number}")) for number in range(9)),
        store.commit(telling("t1", "d1")),
        return_exceptions=True,
    )

    assert [Committed(1)] * 9 == results[:9]
    assert isinstance(results[9], IdTaken)


async def test_crowd_on_the_same_threads_in_any_order_loses_nothing(
    store: PostgresStore, another: PostgresStore
) -> None:
    """Two processes write batches of the same threads at once: no deadlock, no lost event."""
    names = [f"t{number}" for number in range(10)]
    await asyncio.gather(*(store.commit(launching(name)) for name in names))

    async def say(who: PostgresStore, order: list[str]) -> None:
        for name in order:
            words = [MessageReceived(at=NOW, text="x")]
            await who.commit(Commit(thread=ThreadId(name), events=words, now=NOW))

    orders = [names, names[::-1], names[5:] + names[:5]]
    await asyncio.gather(
        *(say(who, order) for who in (store, another) for order in orders for _ in range(5))
    )

    rows = [await store.thread(ThreadId(name)) for name in names]
    assert [row.seq for row in rows if row is not None] == [31] * 10


async def _is_waiting_for_a_lock(connection: asyncpg.Connection) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    async with asyncio.timeout(10):
        while not await connection.fetchval(waiting):
            pass  # the server answers in its own time


async def test_delivery_that_was_not_visible_yet_keeps_its_place(
    url: str, store: PostgresStore
) -> None:
    """A commit that waited for another's can't see its delivery: then it leases none of its own."""
    await store.commit(launching("t1"))
    other = await asyncpg.connect(url)
    watcher = await asyncpg.connect(url)
    open_one = other.transaction()
    await open_one.start()
    await other.execute("UPDATE threads SET updated_at = updated_at WHERE id = 't1'")
    await other.execute(
        "INSERT INTO deliveries (id, thread, seq, address, body, status, due_at, epoch, attempts,"
        " error) VALUES ('first', 't1', 1, 'web:1', '{}', 'pending', 0, 0, 0, '')"
    )
    second = NewDelivery(id=DeliveryId("second"), address="web:1", body={}, due_at=NOW)
    commit = Commit(thread=ThreadId("t1"), deliveries=[second], now=NOW, send_lease_ms=LEASE)

    writing = asyncio.create_task(store.commit(commit))
    await _is_waiting_for_a_lock(watcher)
    await open_one.commit()

    assert await writing == Committed(1)
    claimed = await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=9)
    assert [row.id for row in claimed] == ["first"]
    await other.close()
    await watcher.close()


async def test_lease_that_was_taken_meanwhile_is_not_given_again(
    url: str, store: PostgresStore
) -> None:
    """A commit that waited for a claim of another machine sees that it came too late."""
    await store.commit(launching("t1"))
    other = await asyncpg.connect(url)
    watcher = await asyncpg.connect(url)
    claiming = other.transaction()
    await claiming.start()
    await other.execute("UPDATE threads SET epoch = 1, lease_until = $1", NOW + LEASE)
    commit = Commit(thread=ThreadId("t1"), wake_at=NOW, now=NOW, lease_ms=LEASE)

    writing = asyncio.create_task(store.commit(commit))
    await _is_waiting_for_a_lock(watcher)
    await claiming.commit()

    assert await writing == Committed(1)
    row = await store.thread(ThreadId("t1"))
    assert row is not None
    assert (row.epoch, row.lease_until) == (1, NOW + LEASE)
    await other.close()
    await watcher.close()
