"""Who may advance a thread: claims, leases, and giving them back."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from agent_core.thread.events import ThreadId
from storage.store import Store
from storage.values import Claim, Commit
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    claimed,
    committed,
    later,
    launched,
    launching,
    saying,
)


async def test_longest_due_come_first_and_at_most_as_many_as_asked_for(store: Store) -> None:
    """A batch takes from the front of the queue."""
    for name, wake in (("c", -10), ("a", -30), ("d", 0), ("b", -20)):
        await launched(store, name, wake_at=later(wake))

    first = await store.claim(now=NOW, lease_ms=LEASE, limit=3)
    rest = await store.claim(now=NOW, lease_ms=LEASE, limit=3)

    assert [claim.thread for claim in first] == ["a", "b", "c"]
    assert [claim.thread for claim in rest] == ["d"]
    assert await store.claim(now=NOW, lease_ms=LEASE, limit=3) == []


async def test_those_to_leave_are_left_to_others(store: Store) -> None:
    """A process that can't read a thread takes the others, and the thread stays due."""
    for name in ("a", "b", "c"):
        await launched(store, name, wake_at=NOW)
    leave = [ThreadId("a"), ThreadId("elsewhere")]

    mine = await store.claim(now=NOW, lease_ms=LEASE, limit=2, leave=leave)

    assert [claim.thread for claim in mine] == ["b", "c"]
    assert (await claimed(store)).thread == "a"


async def test_claim_knows_the_log_and_raises_the_epoch(store: Store) -> None:
    """The epoch is the fencing number: each claim has its own."""
    await launched(store, wake_at=NOW)
    await committed(store, saying("t1", "more"))

    first = await claimed(store)
    second = await claimed(store, later(LEASE))

    assert first.seq == 2
    assert second.epoch == first.epoch + 1
    row = await store.thread(T1)
    assert row is not None
    assert (second.epoch, later(2 * LEASE), NOW) == (row.epoch, row.lease_until, row.wake_at)


async def test_leased_thread_is_not_claimed_before_the_lease_ends(store: Store) -> None:
    """One run per thread at a time; a lease that ran out is simply due again."""
    await launched(store, wake_at=NOW)
    await claimed(store)

    assert await store.claim(now=later(LEASE - 1), lease_ms=LEASE, limit=9) == []
    assert len(await store.claim(now=later(LEASE), lease_ms=LEASE, limit=9)) == 1


async def test_thread_with_a_future_wake_or_none_is_not_claimed(store: Store) -> None:
    """A timer is a wake in the future."""
    await launched(store, "timer", wake_at=later(1))
    await launched(store, "waiting")

    assert await store.claim(now=NOW, lease_ms=LEASE, limit=9) == []
    [claim] = await store.claim(now=later(1), lease_ms=LEASE, limit=9)
    assert claim.thread == "timer"


async def test_queued_counts_what_is_due_and_free(store: Store) -> None:
    """For back-pressure and for people."""
    for name in ("a", "b", "c"):
        await launched(store, name, wake_at=NOW)
    await launched(store, "later", wake_at=later(1))
    await store.claim(now=NOW, lease_ms=LEASE, limit=1)

    assert await store.queued(now=NOW) == 2
    assert await store.queued(now=later(LEASE)) == 4


async def test_renewing_prolongs_and_tells_how_far_the_log_is(store: Store) -> None:
    """A renewal is also how a running worker learns of what came meanwhile."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    await committed(store, saying("t1", "news"))

    renewed = await store.renew([claim], now=later(20_000), lease_ms=LEASE)

    assert [Claim(T1, claim.epoch, 2)] == renewed
    assert await store.claim(now=later(20_000 + LEASE - 1), lease_ms=LEASE, limit=9) == []
    assert len(await store.claim(now=later(20_000 + LEASE), lease_ms=LEASE, limit=9)) == 1


async def test_renewing_leaves_out_what_is_lost(store: Store) -> None:
    """Claimed by another, given back, or never there: not prolonged, and missing in the answer."""
    for name in ("kept", "lost", "back"):
        await launched(store, name, wake_at=NOW)
    claims = {c.thread: c for c in await store.claim(now=NOW, lease_ms=LEASE, limit=9)}
    kept, lost = claims[ThreadId("kept")], claims[ThreadId("lost")]
    back = claims[ThreadId("back")]
    await store.renew([kept], now=later(LEASE), lease_ms=LEASE)
    await store.release(back, handled_seq=1, wake_at=None)
    taken = await claimed(store, later(LEASE))
    never = Claim(ThreadId("never"), 1, 1)

    renewed = await store.renew([lost, back, kept, never], now=later(LEASE + 5), lease_ms=LEASE)

    assert taken.thread == "lost"
    assert [kept] == renewed
    assert await store.renew([], now=NOW, lease_ms=LEASE) == []


async def test_lease_that_ran_out_is_renewed_if_nobody_took_the_thread(store: Store) -> None:
    """A worker that was stalled goes on where nobody noticed."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    renewed = await store.renew([claim], now=later(2 * LEASE), lease_ms=LEASE)

    assert [claim] == renewed
    assert await store.queued(now=later(2 * LEASE)) == 0


async def test_release_ends_the_work(store: Store) -> None:
    """Nothing came meanwhile: the thread waits, and the row says how far it was handled."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    assert not await store.release(claim, handled_seq=1, wake_at=None)

    row = await store.thread(T1)
    assert row is not None
    assert (row.wake_at, row.lease_until, row.handled_seq) == (None, None, 1)
    assert await store.queued(now=later(10 * LEASE)) == 0


async def test_release_can_set_a_timer(store: Store) -> None:
    """A wake in the future is claimed when it comes."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    assert not await store.release(claim, handled_seq=1, wake_at=later(500))

    assert await store.claim(now=later(499), lease_ms=LEASE, limit=9) == []
    assert (await claimed(store, later(500))).epoch == claim.epoch + 1


async def test_release_finds_out_what_came_meanwhile(store: Store) -> None:
    """The log has grown past what was handled: due at once, in the order of its coming."""
    await launched(store, "t1", wake_at=NOW)
    claim = await claimed(store)
    await committed(store, replace(saying("t1", "wait!", now=later(7)), wake_at=later(7)))
    await committed(store, launching("t2", wake_at=later(8)))

    assert await store.release(claim, handled_seq=1, wake_at=later(99_999))

    claims = await store.claim(now=later(8), lease_ms=LEASE, limit=9)
    assert [c.thread for c in claims] == ["t1", "t2"]
    row = await store.thread(T1)
    assert row is not None
    assert (1, later(7)) == (row.handled_seq, row.wake_at)


async def test_own_events_are_no_news(store: Store) -> None:
    """What the worker wrote itself and handled does not wake it again."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    seq = await committed(store, replace(saying("t1", "done"), epoch=claim.epoch))

    assert not await store.release(claim, handled_seq=seq, wake_at=None)


async def test_zombie_can_not_release(store: Store) -> None:
    """A lease that is gone is no error, and its release changes nothing."""
    await launched(store, wake_at=NOW)
    zombie = await claimed(store)
    await claimed(store, later(LEASE))
    before = await store.thread(T1)

    assert not await store.release(zombie, handled_seq=0, wake_at=None)
    assert not await store.release(Claim(ThreadId("never"), 1, 1), handled_seq=0, wake_at=None)

    assert before == await store.thread(T1)


async def test_worker_that_said_there_is_nothing_to_do_may_die(store: Store) -> None:
    """It took the wake back within its lease: nothing is due after the lease, either."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    await committed(store, Commit(thread=T1, epoch=claim.epoch, wake_at=None, now=NOW))

    assert await store.claim(now=later(LEASE), lease_ms=LEASE, limit=9) == []


async def test_claims_at_the_same_time_never_share_a_thread(store: Store, another: Store) -> None:
    """Twenty workers of two processes take forty threads, each once."""
    for number in range(40):
        await launched(store, f"t{number}", wake_at=NOW)

    batches = await asyncio.gather(
        *(
            (store, another)[worker % 2].claim(now=NOW, lease_ms=LEASE, limit=3)
            for worker in range(20)
        )
    )

    threads = [claim.thread for batch in batches for claim in batch]
    rest = await store.claim(now=NOW, lease_ms=LEASE, limit=100)
    assert len(threads) == len(set(threads))
    assert {f"t{n}" for n in range(40)} == {*threads, *(claim.thread for claim in rest)}
    assert len(threads) + len(rest) == 40
