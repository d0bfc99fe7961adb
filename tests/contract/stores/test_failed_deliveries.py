"""What could not be sent: it is found again, and put back where it stood."""

from __future__ import annotations

from msgspec.structs import replace

from agent_core.thread.events import Millis, ThreadId
from storage.store import Store
from storage.values import DeliveryEnd, FailedWish
from tests.contract.stores.rows import LEASE, NOW, T1, committed, delivery, later, launching

ONE, OTHER = "callback:https://ci.example.com/a", "callback:https://ci.example.com/b"
SLACK = "slack:T1:C1"
ALL = FailedWish(prefix="callback:")


async def fail(store: Store, *, at: Millis = NOW) -> None:
    """Let everything that is due fail for good."""
    while due := await store.claim_deliveries(now=later(0), lease_ms=LEASE, limit=100):
        ends = [
            DeliveryEnd(delivery=one, status="failed", due_at=at, error="answered 500")
            for one in due
        ]
        assert all(await store.end_deliveries(ends))


async def failures(store: Store, wish: FailedWish) -> list[tuple[str, str]]:
    """List them by thread and name."""
    return [(row.thread, row.id) for row in await store.failed_deliveries(wish)]


async def write(store: Store, thread: str, *names: str, address: str = ONE) -> None:
    """Begin a thread that says so many things."""
    said = [delivery(name, address) for name in names]
    await committed(store, replace(launching(thread), deliveries=said))


async def test_what_failed_is_listed_in_the_order_of_writing(store: Store) -> None:
    """With why, how often it was tried, and when it failed."""
    await write(store, "t2", "b", "a")
    await write(store, "t1", "c", address=OTHER)
    await write(store, "t3", "d", address=SLACK)
    await fail(store, at=later(5))

    rows = await store.failed_deliveries(ALL)

    assert [(row.thread, row.id) for row in rows] == [("t2", "b"), ("t2", "a"), ("t1", "c")]
    assert {("failed", "answered 500", 1, later(5))} == {
        (row.status, row.error, row.attempts, row.due_at) for row in rows
    }


async def test_failures_are_picked_by_address_thread_and_time(store: Store) -> None:
    """Each wish narrows; what fits none finds nothing, also text that no store can hold."""
    await write(store, "t1", "a")
    await fail(store, at=later(1))
    await write(store, "t2", "b", address=OTHER)
    await fail(store, at=later(2))

    assert await failures(store, replace(ALL, address=ONE)) == [("t1", "a")]
    assert await failures(store, replace(ALL, thread="t2")) == [("t2", "b")]
    assert await failures(store, replace(ALL, since=later(2))) == [("t2", "b")]
    assert await failures(store, replace(ALL, limit=1)) == [("t1", "a")]
    assert await failures(store, replace(ALL, address="callback:https://ci.example.com/")) == []
    assert await failures(store, replace(ALL, thread="\x00")) == []
    assert await failures(store, FailedWish(prefix="slack:")) == []


async def test_what_is_put_back_goes_out_in_order_and_before_what_came_later(
    store: Store,
) -> None:
    """As if it had never been tried; nothing else is touched."""
    await write(store, "t1", "a", "b")
    await fail(store)
    later_said = replace(
        launching("t1"), create=None, events=[], deliveries=[delivery("c", ONE)], now=later(1)
    )
    await committed(store, later_said)

    assert await store.requeue_deliveries(ALL, now=later(2)) == 2
    assert await store.requeue_deliveries(ALL, now=later(2)) == 0

    sent = []
    while due := await store.claim_deliveries(now=later(2), lease_ms=LEASE, limit=100):
        sent += [(one.id, one.attempts, one.error) for one in due]
        ends = [DeliveryEnd(delivery=one, status="sent", receipt={}) for one in due]
        assert all(await store.end_deliveries(ends))
    assert sent == [("a", 1, ""), ("b", 1, ""), ("c", 1, "")]


async def test_no_more_is_put_back_than_was_asked_for(store: Store) -> None:
    """The rest stays as it was: the first written go first."""
    await write(store, "t1", "a", "b", "c")
    await fail(store)

    assert await store.requeue_deliveries(replace(ALL, limit=2), now=NOW) == 2
    assert await failures(store, ALL) == [("t1", "c")]


async def test_the_lease_of_a_try_from_before_counts_for_nothing(store: Store) -> None:
    """A sender that comes back late can't end what was put back."""
    await write(store, "t1", "a")
    [old] = await store.claim_deliveries(now=later(0), lease_ms=LEASE, limit=1)
    await store.end_deliveries([DeliveryEnd(delivery=old, status="failed", due_at=NOW)])
    await store.requeue_deliveries(ALL, now=NOW)

    assert await store.end_deliveries([DeliveryEnd(delivery=old, status="sent")]) == [False]
    [row] = await store.deliveries(ThreadId(T1))
    assert (row.status, row.attempts, row.due_at) == ("pending", 0, NOW)
