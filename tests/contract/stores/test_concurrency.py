"""Many at once: every write counts once, and on one view only one wins."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import MessageReceived, ThreadId
from storage.errors import ThreadKeyTaken
from storage.store import Store
from storage.values import Committed, Duplicate, InboxKey
from tests.contract.stores.places import Place
from tests.contract.stores.rows import T1, committed, launched, launching, saying


async def test_many_threads_at_once(store: Store) -> None:
    """Each log holds its own events in order."""

    async def talk(name: str) -> None:
        await launched(store, name)
        for number in range(5):
            await committed(store, saying(name, f"{name}/{number}"))

    await asyncio.gather(*(talk(f"t{number}") for number in range(40)))

    for number in range(40):
        log = await store.events(ThreadId(f"t{number}"), after=1)
        texts = [event.text for event in log if isinstance(event, MessageReceived)]
        assert [f"t{number}/{n}" for n in range(5)] == texts


async def test_many_writers_on_one_thread_lose_nothing(store: Store, another: Store) -> None:
    """Without a condition all of them append, each at a place of its own."""
    await launched(store)

    seqs = await asyncio.gather(
        *(committed((store, another)[n % 2], saying("t1", str(n))) for n in range(60))
    )

    log = await store.events(T1, after=1)
    texts = [event.text for event in log if isinstance(event, MessageReceived)]
    assert sorted(seqs) == list(range(2, 62))
    assert [str(n) for n in range(60)] == sorted(texts, key=int)
    assert all(texts[seq - 2] == str(n) for n, seq in enumerate(seqs))


async def test_of_many_on_one_view_exactly_one_wins(store: Store, another: Store) -> None:
    """Compare and set: the others are overtaken, and nothing of theirs is there."""
    await launched(store)

    results = await asyncio.gather(
        *((store, another)[n % 2].commit(replace(saying("t1", str(n)), seen=1)) for n in range(30)),
        return_exceptions=True,
    )

    assert results.count(Committed(2)) == 1
    assert sum(isinstance(result, Overtaken) for result in results) == 29
    [winner] = await store.events(T1, after=1)
    assert isinstance(winner, MessageReceived)
    assert isinstance(results[int(winner.text)], Committed)


async def test_of_many_copies_exactly_one_has_an_effect(store: Store, another: Store) -> None:
    """Copies that arrive at the same moment are copies as well."""
    key = InboxKey(source="slack", key="Ev1")

    results = await asyncio.gather(
        *((store, another)[n % 2].commit(launching(f"t{n}", inbox=key)) for n in range(30))
    )

    assert sum(isinstance(result, Committed) for result in results) == 1
    [first] = {result.first for result in results if isinstance(result, Duplicate)}
    there = [n for n in range(30) if await store.thread(ThreadId(f"t{n}")) is not None]
    assert [f"t{n}" for n in there] == [first.thread]


async def test_of_many_launches_with_one_key_exactly_one_wins(store: Store, another: Store) -> None:
    """The others learn that the key is taken."""
    results = await asyncio.gather(
        *((store, another)[n % 2].commit(launching(f"t{n}", key="repo/1")) for n in range(30)),
        return_exceptions=True,
    )

    assert results.count(Committed(1)) == 1
    assert sum(isinstance(result, ThreadKeyTaken) for result in results) == 29


async def test_what_was_written_is_there_after_opening_again(place: Place) -> None:
    """Closing finishes what was accepted."""
    store = place.store()
    await store.open()
    writes = [asyncio.create_task(store.commit(launching(f"t{n}"))) for n in range(50)]
    await asyncio.sleep(0)
    await store.close()

    results = await asyncio.gather(*writes)

    again = place.store()
    await again.open()
    try:
        assert [Committed(1)] * 50 == results
        assert all([await again.thread(ThreadId(f"t{n}")) for n in range(50)])
    finally:
        await again.close()
