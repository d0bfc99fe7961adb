"""Places: an address belongs to one thread, from the write that said so on."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from agent_core.loop.journal import Overtaken
from agent_core.thread.events import ThreadId
from storage.errors import Fenced, IdTaken, PlaceTaken, ThreadKeyTaken, UnknownThread
from storage.store import Store
from storage.values import (
    Commit,
    Committed,
    Delivery,
    DeliveryEnd,
    Duplicate,
    InboxKey,
    InboxRecord,
    Wish,
)
from tests.contract.stores.places import Place
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    T2,
    committed,
    delivery,
    later,
    launched,
    launching,
    question,
    saying,
)

HERE = "slack:T1:C1:1700000000.000100"
THERE = "slack:T1:C1:1700000000.000200"
KEY = InboxKey(source="slack", key="Ev1", digest="d1")


def launching_at(thread: str, *places: str, inbox: InboxKey | None = None) -> Commit:
    """Begin a thread that has these places."""
    return replace(launching(thread, inbox=inbox), places=places)


async def claim_all(store: Store) -> list[Delivery]:
    """Claim whatever is due."""
    return await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=100)


async def threads_at(store: Store, *places: str) -> Sequence[ThreadId | None]:
    """Look several places up."""
    return [await store.thread_at(place) for place in places]


# --- by a commit


async def test_thread_is_found_at_its_places(store: Store, another: Store) -> None:
    """From the first commit or a later one, in every process, to the letter."""
    await committed(store, launching_at("t1", HERE))
    await committed(store, launching_at("t2", THERE, "email:ä@example.com"))
    await committed(store, replace(saying("t1", "more"), places=["slack:T1:U2"]))

    assert await threads_at(another, HERE, "slack:T1:U2") == [T1, T1]
    assert await threads_at(another, THERE, "email:ä@example.com") == [T2, T2]
    assert await threads_at(store, "slack:T1:C1", HERE.lower(), "", "a\0b") == [None] * 4


async def test_place_is_there_after_opening_again(place: Place) -> None:
    """It lasts as long as the thread."""
    store = place.store()
    await store.open()
    await committed(store, launching_at("t1", HERE))
    await store.close()

    again = place.store()
    await again.open()
    try:
        assert await again.thread_at(HERE) == T1
    finally:
        await again.close()


async def test_place_can_be_bound_without_an_event(store: Store) -> None:
    """A commit of a place alone is a commit."""
    await launched(store)

    assert await committed(store, Commit(thread=T1, places=[HERE], now=NOW)) == 1

    assert await store.thread_at(HERE) == T1


async def test_same_thread_may_bind_its_place_again(store: Store) -> None:
    """Each message at a place may name it; also twice in one commit. An empty one is none."""
    await committed(store, launching_at("t1", HERE, HERE, ""))
    await launched(store, "t2")

    assert await committed(store, replace(saying("t1", "a"), places=[THERE, HERE, THERE])) == 2
    assert await committed(store, replace(saying("t2", "b"), places=[""])) == 2

    assert await threads_at(store, HERE, THERE, "") == [T1, T1, None]


async def test_place_of_another_thread_is_refused_and_nothing_written(store: Store) -> None:
    """The events, the row, what goes with them, and the free places: none of it."""
    await committed(store, launching_at("t1", HERE))
    await launched(store, "t2")
    commit = replace(
        saying("t2", "one", "two", now=later(7)),
        status="waiting",
        summary={"x": 1},
        wake_at=NOW,
        questions=[question("q1", "t2")],
        deliveries=[delivery("d1")],
        inbox=KEY,
        places=["a", HERE, "z"],
    )

    with pytest.raises(PlaceTaken, match=HERE):
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
    assert (await store.questions(Wish())).items == []
    assert await store.deliveries(T2) == []
    assert await store.inbox("slack", "Ev1") is None
    assert await threads_at(store, "a", HERE, "z") == [None, T1, None]


async def test_launch_at_a_place_that_is_taken_leaves_no_thread(store: Store) -> None:
    """All or nothing holds for the first commit as well; elsewhere the same launch passes."""
    await committed(store, launching_at("t1", HERE))

    with pytest.raises(PlaceTaken):
        await store.commit(launching_at("t2", THERE, HERE, inbox=KEY))

    assert await store.thread(T2) is None
    assert await store.load(T2) is None
    assert await store.thread_at(THERE) is None
    assert await committed(store, launching_at("t2", THERE, inbox=KEY)) == 1


async def test_commit_that_fails_for_another_reason_binds_nothing(store: Store) -> None:
    """A place is part of the write; the other conditions come before it."""
    await committed(store, replace(launching("t1", key="k"), deliveries=[delivery("d1")]))
    await committed(store, launching_at("t2", HERE))
    at_both = [THERE, HERE]

    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "x"), places=at_both, seen=7))
    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "x"), places=at_both, epoch=7))
    with pytest.raises(UnknownThread):
        await store.commit(replace(saying("t3", "x"), places=at_both))
    with pytest.raises(Overtaken):
        await store.commit(launching_at("t1", *at_both))
    with pytest.raises(ThreadKeyTaken):
        await store.commit(replace(launching("t3", key="k"), places=at_both))
    twice = [delivery("d1"), delivery("d1")]
    with pytest.raises(IdTaken):
        await store.commit(replace(launching_at("t3", THERE), deliveries=twice))

    assert await threads_at(store, THERE, HERE) == [None, T2]


async def test_duplicate_comes_before_a_place_that_is_taken(store: Store) -> None:
    """A second copy of the launch is told of the first, whose place it is."""
    await committed(store, launching_at("t1", HERE, inbox=KEY))

    result = await store.commit(launching_at("t2", HERE, THERE, inbox=KEY))

    assert Duplicate(InboxRecord(T1, 1, "d1")) == result
    assert await threads_at(store, HERE, THERE) == [T1, None]


async def test_place_that_no_database_stores_is_refused(store: Store) -> None:
    """Before anything changes."""
    for bad in ("slack:\0", "\ud800"):
        with pytest.raises(NotJson):
            await store.commit(launching_at("t1", HERE, bad))

    assert await store.thread(T1) is None
    assert await store.thread_at(HERE) is None


async def test_of_many_launches_at_one_place_exactly_one_wins(store: Store, another: Store) -> None:
    """The others learn that it is taken, and leave nothing; their neighbours are not harmed."""
    for round_ in range(3):
        spot = f"{HERE}{round_}"
        names = [f"t{round_}.{n}" for n in range(20)]
        neighbours = [f"n{round_}.{n}" for n in range(20)]

        results, _ = await asyncio.gather(
            asyncio.gather(
                *(
                    (store, another)[n % 2].commit(launching_at(name, f"{spot}/{name}", spot))
                    for n, name in enumerate(names)
                ),
                return_exceptions=True,
            ),
            asyncio.gather(*(committed(store, launching_at(name, name)) for name in neighbours)),
        )

        winner = await store.thread_at(spot)
        assert results.count(Committed(1)) == 1
        assert sum(isinstance(result, PlaceTaken) for result in results) == 19
        assert winner == names[results.index(Committed(1))]
        there = [name for name in names if await store.thread(ThreadId(name)) is not None]
        bound = [name for name in names if await store.thread_at(f"{spot}/{name}") is not None]
        assert [winner] == there == bound
        assert await threads_at(store, *neighbours) == neighbours


async def test_of_many_copies_at_one_place_all_but_one_are_duplicates(
    store: Store, another: Store
) -> None:
    """Copies of a launch that arrive at the same moment are copies, not strangers at its place."""
    for round_ in range(5):
        spot, key = f"{HERE}{round_}", replace(KEY, key=str(round_))

        results = await asyncio.gather(
            *(
                (store, another)[n % 2].commit(launching_at(f"t{round_}.{n}", spot, inbox=key))
                for n in range(20)
            )
        )

        assert results.count(Committed(1)) == 1
        [first] = {result.first for result in results if isinstance(result, Duplicate)}
        assert await store.thread_at(spot) == first.thread


async def test_of_two_that_want_the_same_places_one_gets_them_all(
    store: Store, another: Store
) -> None:
    """Never each some of them, whatever the order in which they are named."""
    spots = [f"{HERE}{n}" for n in range(10)]

    results = await asyncio.gather(
        store.commit(launching_at("t1", *spots)),
        another.commit(launching_at("t2", *reversed(spots))),
        return_exceptions=True,
    )

    assert {Committed, PlaceTaken} == {type(result) for result in results}
    assert len(set(await threads_at(store, *spots))) == 1


# --- by a delivery


async def sent_to(store: Store, place: str, *, thread: str = "t1") -> bool:
    """Launch a thread with a delivery, and record that it was sent to this place."""
    await committed(store, replace(launching(thread), deliveries=[delivery(f"d-{thread}")]))
    [row] = await claim_all(store)
    [is_recorded] = await store.end_deliveries(
        [DeliveryEnd(delivery=row, status="sent", receipt={"ts": "1.2"}, place=place)]
    )
    return is_recorded


async def test_place_where_something_was_sent_becomes_the_threads(
    store: Store, another: Store
) -> None:
    """Whoever answers there is heard by it; the thread may bind it again."""
    assert await sent_to(store, HERE)

    assert await another.thread_at(HERE) == T1
    assert await committed(store, replace(saying("t1", "yes"), places=[HERE])) == 2
    await launched(store, "t2")
    with pytest.raises(PlaceTaken):
        await store.commit(replace(saying("t2", "no"), places=[HERE]))


async def test_place_that_somebody_has_stays_theirs_when_something_is_sent(store: Store) -> None:
    """What was sent is sent: that is no error."""
    await committed(store, launching_at("t2", HERE))

    assert await sent_to(store, HERE)

    assert await store.thread_at(HERE) == T2
    [row] = await store.deliveries(T1)
    assert (row.status, row.receipt) == ("sent", {"ts": "1.2"})


LONG = "".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(100))
"""Longer than an index takes, and nothing that a database could compress."""


@pytest.mark.parametrize("spot", ["", "slack:\0", "\ud800", LONG])
async def test_place_that_is_none_does_not_spoil_the_record(store: Store, spot: str) -> None:
    """A channel without places gives an empty one; one that no database stores is let go."""
    assert await sent_to(store, spot)

    assert await store.thread_at(spot) is None
    assert [row.status for row in await store.deliveries(T1)] == ["sent"]


async def test_only_what_was_sent_and_recorded_binds(store: Store) -> None:
    """Not a failure, not a retry, not a settled copy, and nothing of a sender without a lease."""
    await committed(
        store,
        replace(launching(), deliveries=[delivery(f"d{n}", f"slack:{n}") for n in range(4)]),
    )
    failed, retried, settled, zombie = await claim_all(store)
    await store.end_deliveries([DeliveryEnd(delivery=settled, status="sent")])
    again = await store.claim_deliveries(now=later(LEASE), lease_ms=LEASE, limit=100)
    held = {row.id: row for row in again}

    recorded = await store.end_deliveries(
        [
            DeliveryEnd(delivery=held[failed.id], status="failed", place="p:failed"),
            DeliveryEnd(delivery=held[retried.id], status="pending", place="p:retried"),
            DeliveryEnd(delivery=settled, status="settled", place="p:settled"),
            DeliveryEnd(delivery=zombie, status="sent", place="p:zombie"),
        ]
    )

    assert recorded == [True, True, True, False]
    places = ("p:failed", "p:retried", "p:settled", "p:zombie")
    assert await threads_at(store, *places) == [None] * 4


async def test_of_several_sent_to_one_place_the_first_has_it(store: Store) -> None:
    """In the order of the record, whatever their names; the others are recorded all the same."""
    for name in ("t2", "t1", "t3"):
        await committed(store, replace(launching(name), deliveries=[delivery(f"d-{name}")]))
    rows = await claim_all(store)
    assert [row.thread for row in rows] == ["t2", "t1", "t3"]

    ends = [DeliveryEnd(delivery=row, status="sent", place=HERE) for row in rows]
    ends[2] = replace(ends[2], place=THERE)

    assert await store.end_deliveries(ends) == [True, True, True]
    assert await threads_at(store, HERE, THERE) == [T2, "t3"]
