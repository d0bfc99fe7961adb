"""A commit that leases its own deliveries: whoever wrote them sends them, without a claim."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.thread.questions import QuestionId
from storage.errors import IdTaken
from storage.store import Store
from storage.values import Commit, Committed, Delivery, DeliveryEnd, NewDelivery
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


async def sending(store: Store, commit: Commit) -> list[Delivery]:
    """Commit, and give the deliveries that were leased with it."""
    result = await store.commit(replace(commit, send_lease_ms=LEASE))
    assert isinstance(result, Committed)
    return list(result.deliveries)


def saying_to(*deliveries: NewDelivery) -> Commit:
    """Write to people, and nothing else."""
    return Commit(thread=T1, deliveries=deliveries, now=NOW)


async def claim_all(store: Store, now: int = NOW) -> list[str]:
    """Claim whatever is due, and give the ids."""
    rows = await store.claim_deliveries(now=later(now - NOW), lease_ms=LEASE, limit=100)
    return [row.id for row in rows]


async def end(store: Store, row: Delivery) -> bool:
    """Record that it was sent."""
    [was_held] = await store.end_deliveries([DeliveryEnd(delivery=row, status="sent")])
    return was_held


async def test_delivery_is_leased_to_whoever_wrote_it(store: Store) -> None:
    """It is as if it had been claimed at once, and nobody else can claim it."""
    new = replace(delivery("d1"), question=QuestionId("q1"))

    [row] = await sending(store, replace(launching(), deliveries=[new]))

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
    assert await claim_all(store, later(LEASE - 1)) == []
    assert await end(store, row)
    assert await claim_all(store, later(LEASE)) == []


async def test_lease_of_a_writer_that_died_runs_out(store: Store) -> None:
    """Somebody else sends it then, and the dead one's record is refused."""
    await launched(store)
    [zombie] = await sending(store, saying_to(delivery()))

    [again] = await store.claim_deliveries(now=later(LEASE), lease_ms=LEASE, limit=9)

    assert (again.id, again.epoch, again.attempts) == (zombie.id, 2, 2)
    assert not await end(store, zombie)
    assert await end(store, again)


async def test_of_one_address_only_the_first_is_leased(store: Store) -> None:
    """The others wait for their turn, and are claimed when it comes."""
    await launched(store)

    first, mail = await sending(
        store,
        saying_to(delivery("z"), delivery("a"), delivery("m", MAIL), delivery("b", MAIL)),
    )

    assert (first.id, mail.id) == ("z", "m")
    assert await claim_all(store) == []
    assert await end(store, first)
    assert await claim_all(store) == ["a"]


async def test_while_an_earlier_one_is_pending_none_is_leased(store: Store) -> None:
    """Be it unclaimed, leased or put back: order holds within a thread and address."""
    await launched(store)
    await committed(store, saying_to(delivery("d1")))
    assert await sending(store, saying_to(delivery("d2"))) == []

    [first] = await store.claim_deliveries(now=NOW, lease_ms=LEASE, limit=9)
    assert await sending(store, saying_to(delivery("d3"))) == []

    back = DeliveryEnd(delivery=first, status="pending", due_at=later(1000))
    assert await store.end_deliveries([back]) == [True]
    assert await sending(store, saying_to(delivery("d4"))) == []
    [mail] = await sending(store, saying_to(delivery("m", MAIL)))
    assert mail.id == "m"

    assert await claim_all(store, later(1000)) == ["d1"]


async def test_other_threads_hold_nothing_up(store: Store) -> None:
    """The same address in another thread is another line."""
    await committed(store, replace(launching("t2"), deliveries=[delivery("other")]))

    [row] = await sending(store, replace(launching("t1"), deliveries=[delivery("mine")]))

    assert row.id == "mine"


async def test_after_the_earlier_ones_are_done_one_is_leased(store: Store) -> None:
    """Sent, failed or settled ones are no obstacle."""
    await launched(store)
    for name in ("a", "b"):
        [row] = await sending(store, saying_to(delivery(name)))
        assert row.id == name
        assert await end(store, row)


async def test_one_that_is_not_due_is_not_leased_and_holds_up_the_next(store: Store) -> None:
    """A message for later is sent later, and what follows it after it."""
    await launched(store)

    assert (
        await sending(store, saying_to(delivery("later", due_at=later(9)), delivery("next"))) == []
    )

    assert await claim_all(store, later(8)) == []
    assert await claim_all(store, later(9)) == ["later"]


async def test_without_the_wish_nothing_is_leased(store: Store) -> None:
    """They are for whoever claims them."""
    await launched(store)

    assert await store.commit(saying_to(delivery())) == Committed(1)
    assert await claim_all(store) == ["d1"]


async def test_commit_that_is_refused_leases_no_delivery(store: Store) -> None:
    """All of it or nothing."""
    await launched(store)
    [row] = await sending(store, saying_to(delivery("a", SLACK)))

    with pytest.raises(IdTaken):
        await sending(store, saying_to(delivery("m", MAIL), delivery("a", SLACK)))

    assert [row] == await store.deliveries(T1)
