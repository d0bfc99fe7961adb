"""What a write depends on: the last event that was seen, and the lease that is held."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import ThreadId
from storage.errors import Fenced, UnknownThread
from storage.store import Store
from storage.values import Commit
from tests.contract.stores.rows import (
    LEASE,
    NOW,
    T1,
    claimed,
    committed,
    later,
    launched,
    launching,
    said,
    saying,
)


async def test_commit_on_the_last_event_passes(store: Store) -> None:
    """What was decided on the newest state is written."""
    await launched(store)

    assert await committed(store, replace(saying("t1", "a"), seen=1)) == 2
    assert await committed(store, replace(saying("t1", "b", "c"), seen=2)) == 4


@pytest.mark.parametrize("seen", [0, 1, 3])
async def test_commit_on_an_old_or_impossible_view_is_overtaken(store: Store, seen: int) -> None:
    """What was decided on another state is not written."""
    await launched(store)
    await committed(store, saying("t1", "first"))

    with pytest.raises(Overtaken):
        await store.commit(
            Commit(thread=T1, events=[said("x")], seen=seen, status="failed", now=later(1))
        )

    row = await store.thread(T1)
    assert row is not None
    assert (row.seq, row.status, row.updated_at) == (2, "running", NOW)


async def test_launch_may_say_that_nothing_was_seen(store: Store) -> None:
    """`seen=0` is the state before the first event; any other is impossible there."""
    with pytest.raises(Overtaken):
        await store.commit(replace(launching(), seen=1))

    assert await committed(store, replace(launching(), seen=0)) == 1


async def test_condition_on_a_thread_that_is_not_there_is_unknown_thread(store: Store) -> None:
    """A missing thread is neither overtaken nor fenced."""
    commit = Commit(thread=ThreadId("nobody"), events=[said("x")], seen=3, epoch=2, now=NOW)

    with pytest.raises(UnknownThread):
        await store.commit(commit)


async def test_holder_of_the_lease_writes(store: Store) -> None:
    """The epoch of a claim is the right to append."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    assert await committed(store, replace(saying("t1", "a"), epoch=claim.epoch)) == 2


async def test_nobody_writes_by_an_epoch_without_a_lease(store: Store) -> None:
    """A thread that nobody has claimed has no epoch to write by."""
    await launched(store, wake_at=NOW)

    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "a"), epoch=0))


async def test_zombie_is_refused_after_another_claim(store: Store) -> None:
    """A lease that ran out and was claimed by another gives no right any more."""
    await launched(store, wake_at=NOW)
    zombie = await claimed(store)
    successor = await claimed(store, later(LEASE))

    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "from the grave"), epoch=zombie.epoch))

    assert await committed(store, replace(saying("t1", "alive"), epoch=successor.epoch)) == 2


async def test_lease_that_was_given_back_gives_no_right(store: Store) -> None:
    """After a release the same epoch is refused, also while nobody else has claimed."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    await store.release(claim, handled_seq=1, wake_at=None)

    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "late"), epoch=claim.epoch))


async def test_lease_that_ran_out_is_held_until_somebody_claims(store: Store) -> None:
    """Fencing needs no clock: nobody else has the thread, so nobody can be harmed."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    long_after = replace(saying("t1", "slow", now=later(10 * LEASE)), epoch=claim.epoch)

    assert await committed(store, long_after) == 2


async def test_others_append_while_a_worker_holds_the_thread(store: Store) -> None:
    """A message is never refused because a thread runs."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    await committed(store, saying("t1", "by the way"))

    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "done"), epoch=claim.epoch, seen=1))
    assert await committed(store, replace(saying("t1", "done"), epoch=claim.epoch, seen=2)) == 3
