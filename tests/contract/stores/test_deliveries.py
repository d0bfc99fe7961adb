"""The outbox: what must be said to people, in order, by one sender at a time."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent_core.errors import NotJson
from agent_core.json_values import JsonObject
from agent_core.thread.events import Millis
from agent_core.thread.questions import QuestionId
from storage.store import Store
from storage.values import Commit, Delivery, DeliveryEnd, DeliveryStatus
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    committed,
    delivery,
    later,
    launched,
    launching,
)

SLACK = "slack:T1/C1"
MAIL = "email:otto@example.com"


async def claim_all(store: Store, now: int = NOW) -> list[Delivery]:
    """Claim whatever is due."""
    return await store.claim_deliveries(now=later(now - NOW), lease_ms=LEASE, limit=100)


async def ended(
    store: Store,
    row: Delivery,
    *,
    status: DeliveryStatus,
    due_at: Millis | None = None,
    receipt: JsonObject | None = None,
    error: str = "",
) -> bool:
    """Record one try at sending, and tell whether its lease was held."""
    end = DeliveryEnd(delivery=row, status=status, due_at=due_at, receipt=receipt, error=error)
    [was_held] = await store.end_deliveries([end])
    return was_held


async def names(store: Store, now: int = NOW) -> list[str]:
    """Claim whatever is due, and give the ids."""
    return [row.id for row in await claim_all(store, now)]


async def test_delivery_is_committed_with_its_cause_and_claimed(store: Store) -> None:
    """It carries what a sender needs, and which event caused it."""
    new = replace(delivery("d1"), question=QuestionId("q1"))
    await committed(store, replace(launching(), deliveries=[new]))

    [row] = await claim_all(store)

    expected = Delivery(
        id=new.id,
        thread=T1,
        seq=1,
        address=SLACK,
        body={"text": "d1"},
        question=QuestionId("q1"),
        status="pending",
        due_at=NOW,
        lease_until=later(LEASE),
        epoch=1,
        attempts=1,
        receipt=None,
        error="",
    )
    assert expected == row
    assert [expected] == await store.deliveries(T1)


async def test_order_holds_within_a_thread_and_address(store: Store) -> None:
    """Of several, the first written goes first; the next only when that one is done."""
    await committed(
        store, replace(launching(), deliveries=[delivery("d2"), delivery("d1"), delivery("d0")])
    )
    sent = []
    while rows := await claim_all(store):
        assert len(rows) == 1
        sent += [row.id for row in rows]
        assert await ended(store, rows[0], status="sent")

    assert sent == ["d2", "d1", "d0"]


async def test_other_addresses_and_threads_do_not_wait(store: Store) -> None:
    """A slow Slack channel holds no mail up, nor another thread."""
    await committed(
        store,
        replace(
            launching("t1"),
            deliveries=[delivery("a1", SLACK), delivery("a2", SLACK), delivery("m", MAIL)],
        ),
    )
    await committed(store, replace(launching("t2"), deliveries=[delivery("b", SLACK)]))

    assert {"a1", "m", "b"} == set(await names(store))


async def test_later_one_waits_for_an_earlier_one_that_was_put_back(store: Store) -> None:
    """A retry keeps its place, also while it is not due."""
    await committed(store, replace(launching(), deliveries=[delivery("d1"), delivery("d2")]))
    [first] = await claim_all(store)
    await ended(store, first, status="pending", due_at=later(1000), error="503")

    assert await names(store, later(999)) == []
    assert await names(store, later(1000)) == ["d1"]


async def test_failed_one_lets_the_next_go(store: Store) -> None:
    """Giving up on one message does not silence the thread."""
    await committed(store, replace(launching(), deliveries=[delivery("d1"), delivery("d2")]))
    [first] = await claim_all(store)
    await ended(store, first, status="failed", error="no such channel")

    assert await names(store) == ["d2"]
    failed, _ = await store.deliveries(T1)
    assert (
        failed.status,
        failed.error,
        failed.due_at,
        failed.lease_until,
    ) == ("failed", "no such channel", None, None)


async def test_longest_due_go_first_and_at_most_as_many_as_asked_for(store: Store) -> None:
    """The outbox is a queue, too."""
    for name, due in (("c", -10), ("a", -30), ("b", -20), ("later", 1)):
        new = delivery(name, f"slack:{name}", due_at=later(due))
        await committed(store, replace(launching(name), deliveries=[new]))

    batch = await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=2)

    assert [row.id for row in batch] == ["a", "b"]
    assert await names(store) == ["c"]


async def test_leased_delivery_is_claimed_again_when_the_lease_ends(store: Store) -> None:
    """A sender that died is replaced; the try is counted."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    await claim_all(store)

    assert await names(store, later(LEASE - 1)) == []
    [again] = await claim_all(store, later(LEASE))
    assert (again.epoch, again.attempts) == (2, 2)


async def test_end_of_a_try_is_fenced(store: Store) -> None:
    """A sender whose lease is gone records nothing."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    [zombie] = await claim_all(store)
    [holder] = await claim_all(store, later(LEASE))

    assert not await ended(store, zombie, status="failed", error="gave up")
    assert await ended(store, holder, status="sent", receipt={"ts": "1.2"})
    assert not await ended(store, holder, status="pending")

    [row] = await store.deliveries(T1)
    assert (row.status, row.receipt, row.error) == ("sent", {"ts": "1.2"}, "")


async def test_unclaimed_delivery_can_not_be_ended(store: Store) -> None:
    """Only a lease gives the right, and only over what is there."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    [row] = await store.deliveries(T1)

    assert not await ended(store, row, status="sent")
    assert not await ended(store, replace(row, id=delivery("never").id), status="sent")


async def test_put_back_without_a_time_is_due_as_before(store: Store) -> None:
    """Giving a lease back unused loses nothing; a receipt of an earlier try is kept."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    [row] = await claim_all(store)
    assert await ended(store, row, status="pending", receipt={"tried": 1})

    [again] = await claim_all(store)

    assert (again.due_at, again.receipt, again.attempts) == (NOW, {"tried": 1}, 2)


async def test_lease_that_is_given_back_unused_was_no_attempt(store: Store) -> None:
    """Who tries so many times, and then gives up, must not count what was never tried."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    unused: list[DeliveryEnd] = []
    for _ in range(3):
        [row] = await claim_all(store)
        unused.append(DeliveryEnd(delivery=row, status="pending", is_untried=True))
        assert await store.end_deliveries(unused[-1:]) == [True]
    [again] = await claim_all(store)

    assert await store.end_deliveries(unused[-1:]) == [False]
    assert (again.attempts, again.epoch) == (1, 4)
    [row] = await store.deliveries(T1)
    assert row.attempts == 1


async def test_sent_one_is_settled_without_a_lease(store: Store) -> None:
    """When a question has ended, the copies that people have are updated and marked so."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    [row] = await claim_all(store)
    await ended(store, row, status="sent", receipt={"ts": "1.2"})
    [sent] = await store.deliveries(T1)

    assert await ended(store, sent, status="settled")
    assert not await ended(store, sent, status="pending", due_at=NOW)

    [settled] = await store.deliveries(T1)
    assert (settled.status, settled.receipt) == ("settled", {"ts": "1.2"})
    assert await names(store, later(LEASE)) == []


async def test_words_of_an_error_cause_no_error(store: Store) -> None:
    """A vendor's message may hold anything; a receipt is ours, and is held to JSON."""
    await committed(store, replace(launching(), deliveries=[delivery()]))
    [row] = await claim_all(store)
    with pytest.raises(NotJson):
        await ended(store, row, status="sent", receipt={"x": "\0"})

    assert await ended(store, row, status="failed", error="bad\0byte \ud800!")

    [failed] = await store.deliveries(T1)
    assert failed.error == "bad\N{REPLACEMENT CHARACTER}byte ?!"


async def test_tries_are_recorded_together_each_by_its_own_lease(store: Store) -> None:
    """One that was lost, or was never there, takes none of the others along."""
    new = [delivery(f"d{n}", f"slack:{n}") for n in range(4)]
    await committed(store, replace(launching(), deliveries=new))
    lost, *_ = await store.claim_deliveries(now=NOW, lease_ms=LEASE // 2, limit=1)
    sent, failed, back = await claim_all(store)
    await claim_all(store, later(LEASE // 2))
    never = replace(sent, id=delivery("never").id)

    held = await store.end_deliveries(
        [
            DeliveryEnd(delivery=failed, status="failed", error="no such channel"),
            DeliveryEnd(delivery=lost, status="sent", receipt={"ts": "0"}),
            DeliveryEnd(delivery=back, status="pending", due_at=later(9), error="503"),
            DeliveryEnd(delivery=never, status="sent"),
            DeliveryEnd(delivery=sent, status="sent", receipt={"ts": "1"}),
            DeliveryEnd(delivery=sent, status="settled"),
            DeliveryEnd(delivery=sent, status="failed"),
        ]
    )

    assert held == [True, False, True, False, True, True, False]
    rows = {row.id: row for row in await store.deliveries(T1)}
    assert {row.id: (row.status, row.receipt, row.due_at) for row in rows.values()} == {
        lost.id: ("pending", None, NOW),
        sent.id: ("settled", {"ts": "1"}, None),
        failed.id: ("failed", None, None),
        back.id: ("pending", None, later(9)),
    }
    assert await store.end_deliveries([]) == []


async def test_what_was_sent_may_come_back_and_only_that(store: Store) -> None:
    """A bounce needs no lease; it says nothing of what was settled, or is still on its way."""
    new = [delivery(name, f"email:{name}@example.com") for name in ("back", "settled", "pending")]
    await committed(store, replace(launching(), deliveries=new))
    back, settled, _ = await claim_all(store)
    for row in (back, settled):
        assert await ended(store, row, status="sent", receipt={"id": row.id})
    assert await ended(store, settled, status="settled")
    pending = delivery("later", "email:later@example.com")
    await committed(store, Commit(thread=T1, deliveries=[pending], now=NOW))
    rows = {str(row.id): row for row in await store.deliveries(T1)}

    held = [
        await ended(store, rows[name], status="failed", error="550 nobody")
        for name in ("back", "back", "settled", "later")
    ]

    assert held == [True, False, False, False]
    rows = {str(row.id): row for row in await store.deliveries(T1)}
    assert (rows["back"].status, rows["back"].error) == ("failed", "550 nobody")
    assert rows["back"].receipt == {"id": "back"}
    assert (rows["settled"].status, rows["later"].status) == ("settled", "pending")


async def test_deliveries_of_two_threads_may_have_the_same_id(store: Store) -> None:
    """Each is sent and recorded by itself: an id is the thread's own."""
    for name in ("t1", "t2"):
        await committed(store, replace(launching(name), deliveries=[delivery("d1")]))
    first, second = await claim_all(store)

    ends = [
        DeliveryEnd(delivery=second, status="failed"),
        DeliveryEnd(delivery=first, status="sent"),
    ]
    assert await store.end_deliveries(ends) == [True, True]

    assert {first.thread, second.thread} == {"t1", "t2"}
    assert [row.status for row in await store.deliveries(first.thread)] == ["sent"]
    assert [row.status for row in await store.deliveries(second.thread)] == ["failed"]


async def test_batch_with_a_receipt_that_is_not_json_records_nothing(store: Store) -> None:
    """It is refused before anything is written."""
    new = [delivery("a", SLACK), delivery("b", MAIL)]
    await committed(store, replace(launching(), deliveries=new))
    fine, bad = await claim_all(store)

    with pytest.raises(NotJson):
        await store.end_deliveries(
            [
                DeliveryEnd(delivery=fine, status="sent"),
                DeliveryEnd(delivery=bad, status="sent", receipt={"x": "\0"}),
            ]
        )

    assert {row.status for row in await store.deliveries(T1)} == {"pending"}


async def test_deliveries_of_a_thread_come_in_the_order_of_writing(store: Store) -> None:
    """All of them, whatever became of them."""
    await launched(store)
    for name in ("z", "a", "m"):
        await committed(store, Commit(thread=T1, deliveries=[delivery(name)], now=NOW))

    assert [row.id for row in await store.deliveries(T1)] == ["z", "a", "m"]


async def test_senders_at_the_same_time_never_share_a_delivery(
    store: Store, another: Store
) -> None:
    """Each is leased to one sender only."""
    new = [delivery(f"d{n}", f"slack:{n}") for n in range(40)]
    await committed(store, replace(launching(), deliveries=new))

    batches = await asyncio.gather(
        *(
            (store, another)[sender % 2].claim_deliveries(now=NOW, lease_ms=LEASE, limit=3)
            for sender in range(20)
        )
    )

    got: list[str] = [row.id for batch in batches for row in batch]
    got += await names(store)
    assert len(got) == len(set(got)) == 40
