"""Hints: who listens hears soon of what may be due. They may repeat, and must not be missing."""

from __future__ import annotations

import asyncio
import itertools
import sys

import pytest
from msgspec.structs import replace

from storage.store import Store, Wakes
from storage.values import Commit, Hint, InboxKey
from tests.contract.stores.places import Place
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    claimed,
    committed,
    delivery,
    later,
    launched,
    launching,
    saying,
)

HALT = Hint("halt", 0)
DELIVERIES = Hint("deliveries", 0)


async def heard(wakes: Wakes, *hints: Hint) -> None:
    """Wait until all these hints, or newer ones on their topics, were given."""
    missing = {hint.topic: hint.seq for hint in hints}
    async with asyncio.timeout(10):
        async for hint in wakes:
            if hint.seq >= missing.get(hint.topic, sys.maxsize):
                del missing[hint.topic]
            if not missing:
                return


@pytest.fixture
async def ears(place: Place, store: Store, another: Store) -> list[Wakes]:
    """Listen in the same store, and in another where hints go across."""
    listening = [store, another] if place.hints_across else [store]
    wakes = [each.wakes() for each in listening]
    await store.set_halt("")  # a LISTEN takes a moment to stand; from the first hint on, none fails
    for each in wakes:
        await heard(each, HALT)
    return wakes


async def test_thread_that_has_grown_or_is_due_is_hinted_at(
    store: Store, ears: list[Wakes]
) -> None:
    """With its last event: a launch, a worker's own events, a wake without events."""
    await committed(store, launching("t1", wake_at=NOW))
    for ear in ears:
        await heard(ear, Hint("t1", 1))

    claim = await claimed(store)
    await committed(store, replace(saying("t1", "a", "b"), epoch=claim.epoch))
    for ear in ears:
        await heard(ear, Hint("t1", 3))

    await committed(store, Commit(thread=T1, wake_at=later(-5), now=NOW))
    for ear in ears:
        await heard(ear, Hint("t1", 3))


async def test_deliveries_and_halt_are_hinted_at(store: Store, ears: list[Wakes]) -> None:
    """The sender and every worker hear as well."""
    await launched(store)
    await committed(store, Commit(thread=T1, deliveries=[delivery()], now=NOW))
    await store.set_halt("stop")
    for ear in ears:
        await heard(ear, DELIVERIES, HALT)

    await store.set_halt("")
    for ear in ears:
        await heard(ear, HALT)


async def test_release_that_finds_news_hints_at_its_thread(store: Store, ears: list[Wakes]) -> None:
    """The thread is due at once, so somebody should look at once."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    await committed(store, saying("t1", "quiet news"))
    await store.set_halt("")  # a mark: what came before it has been heard
    for ear in ears:
        await heard(ear, HALT)

    assert await store.release(claim, handled_seq=1, wake_at=None)
    for ear in ears:
        await heard(ear, Hint("t1", 2))


async def test_every_listener_hears(store: Store) -> None:
    """Also one that listens late, from then on; topics wait until they are asked for."""
    first, second = store.wakes(), store.wakes()
    for number in range(50):
        await committed(store, launching(f"t{number}", wake_at=NOW))

    await heard(first, *(Hint(f"t{number}", 1) for number in range(50)))
    await heard(second, *(Hint(f"t{number}", 1) for number in range(50)))


async def heard_until_now(store: Store, ears: list[Wakes]) -> list[list[Hint]]:
    """Give what each has heard until now; a thread that is launched for it is the mark."""
    mark = f"mark{next(_marks)}"
    await committed(store, launching(mark))
    return [await _heard_before(mark, ear) for ear in ears]


async def _heard_before(mark: str, wakes: Wakes) -> list[Hint]:
    hints: list[Hint] = []
    async with asyncio.timeout(10):
        async for hint in wakes:
            if hint.topic == mark:
                break
            hints.append(hint)
    return hints


_marks = itertools.count()


async def test_what_a_commit_has_leased_is_no_work_for_others(
    store: Store, ears: list[Wakes]
) -> None:
    """Who watches the thread hears of it, but nobody claims in vain; nor what a worker writes."""
    lease = replace(launching("t1", wake_at=NOW), lease_ms=LEASE, send_lease_ms=LEASE)
    await committed(store, replace(lease, deliveries=[delivery()]))
    leased = await heard_until_now(store, ears)
    await committed(store, replace(saying("t1", "work"), epoch=1))
    worked = await heard_until_now(store, ears)
    rest = replace(saying("t1", "rest"), epoch=1, seen=2, release=True, wake_at=NOW)
    await committed(store, rest)
    due = await heard_until_now(store, ears)

    for heard_by_each, seq, is_due in ((leased, 1, False), (worked, 2, False), (due, 3, True)):
        for hints in heard_by_each:
            assert [(hint.topic, hint.seq, hint.is_due) for hint in hints] == [("t1", seq, is_due)]


async def test_what_could_not_be_leased_is_hinted_at(store: Store, ears: list[Wakes]) -> None:
    """A delivery that has to wait for an earlier one is for whoever is free then."""
    both = replace(launching("t1"), deliveries=[delivery("a"), delivery("b")], send_lease_ms=LEASE)
    await committed(store, both)
    for ear in ears:
        await heard(ear, DELIVERIES)


async def test_slow_listener_does_not_miss_that_a_thread_is_due(store: Store) -> None:
    """A later hint that is not about work does not hide one that is."""
    wakes = store.wakes()
    await committed(store, launching("t1", wake_at=NOW))
    await committed(store, saying("t1", "more"))

    [hints] = await heard_until_now(store, [wakes])

    assert {hint.topic for hint in hints} == {"t1"}
    assert hints[-1].seq == 2
    assert any(hint.is_due for hint in hints)


async def test_nothing_is_hinted_at_that_was_not_written(store: Store) -> None:
    """A duplicate wakes nobody, nor does a timer that is still to come."""
    key = InboxKey(source="web", key="1")
    before = store.wakes()
    await store.set_halt("")
    await heard(before, HALT)
    await committed(store, launching("t1", inbox=key))
    await heard(before, Hint("t1", 1))  # else it may come late, and pass for one of those below
    wakes = store.wakes()
    topics: list[str] = []

    await store.commit(replace(launching("t2", wake_at=NOW, inbox=key), deliveries=[delivery()]))
    await committed(store, Commit(thread=T1, wake_at=later(1), now=NOW))
    await store.set_halt("")
    async with asyncio.timeout(10):
        async for hint in wakes:
            topics.append(hint.topic)
            if hint == HALT:
                break

    assert topics == ["halt"]


async def test_slow_listener_gets_the_newest_of_each_topic(store: Store) -> None:
    """What was hinted at several times is given with the highest number, sooner or later."""
    await launched(store)
    wakes = store.wakes()
    for number in range(5):
        await committed(store, saying("t1", str(number)))

    await heard(wakes, Hint("t1", 6))


async def test_listening_ends_when_the_store_closes(store: Store) -> None:
    """Nobody waits for a store that is gone."""
    wakes = store.wakes()

    async def listen() -> list[Hint]:
        return [hint async for hint in wakes]

    listener = asyncio.create_task(listen())
    await asyncio.sleep(0)
    await store.close()

    async with asyncio.timeout(10):
        assert await listener == []
