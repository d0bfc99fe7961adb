"""A commit that also takes or gives back a lease: one write where there would be two or three."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from storage.errors import Fenced
from storage.store import Store
from storage.values import Claim, Commit, Committed, InboxKey, ThreadRow
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


async def row_of(store: Store) -> ThreadRow:
    """Give the thread's row."""
    row = await store.thread(T1)
    assert row is not None
    return row


async def leased(store: Store, commit: Commit) -> Claim:
    """Commit, and give the lease that came with it."""
    result = await store.commit(replace(commit, lease_ms=LEASE))
    assert isinstance(result, Committed)
    assert result.epoch is not None
    return Claim(commit.thread, result.epoch, result.seq)


def resting(claim: Claim, **changes: object) -> Commit:
    """Say the last word of a run, and give the lease back with it."""
    commit = Commit(
        thread=claim.thread,
        events=[said("done")],
        seen=claim.seq,
        epoch=claim.epoch,
        release=True,
        wake_at=None,
        now=later(5),
    )
    return replace(commit, **changes)


# --- taking it ------------------------------------------------------------------------------------


async def test_new_thread_is_leased_by_the_commit_that_begins_it(store: Store) -> None:
    """It is as if it had been claimed: due, held, and due again when the lease runs out."""
    claim = await leased(store, launching(wake_at=NOW))

    assert Claim(T1, 1, 1) == claim
    row = await row_of(store)
    assert (row.epoch, row.lease_until, row.wake_at, row.handled_seq) == (1, later(LEASE), NOW, 0)
    assert await store.claim(now=later(LEASE - 1), lease_ms=LEASE, limit=9) == []
    assert await claimed(store, later(LEASE)) == Claim(T1, 2, 1)


async def test_free_thread_is_leased_by_a_commit(store: Store) -> None:
    """The epoch rises as with a claim, and the holder's writes pass."""
    await launched(store, wake_at=NOW)
    await store.release(await claimed(store), handled_seq=1, wake_at=None)

    claim = await leased(store, replace(saying("t1", "more"), wake_at=NOW))

    assert Claim(T1, 2, 2) == claim
    assert await store.queued(now=NOW) == 0
    assert await committed(store, replace(saying("t1", "work"), epoch=claim.epoch)) == 3
    assert await store.renew([claim], now=NOW, lease_ms=LEASE) == [replace(claim, seq=3)]
    assert not await store.release(claim, handled_seq=3, wake_at=None)


async def test_held_thread_is_not_leased_but_the_commit_stands(store: Store) -> None:
    """The holder sees the news; whoever asked hears that there is no lease for them."""
    await launched(store, wake_at=NOW)
    holder = await claimed(store)

    result = await store.commit(
        replace(saying("t1", "more", now=later(LEASE - 1)), lease_ms=LEASE, wake_at=NOW)
    )

    assert Committed(2) == result
    row = await row_of(store)
    assert (row.epoch, row.lease_until, row.wake_at) == (holder.epoch, later(LEASE), NOW)
    assert await store.release(holder, handled_seq=1, wake_at=None)


async def test_lease_that_ran_out_is_taken_by_a_commit(store: Store) -> None:
    """As with a claim; whoever had it is fenced from then on."""
    await launched(store, wake_at=NOW)
    zombie = await claimed(store)

    claim = await leased(store, saying("t1", "more", now=later(LEASE)))

    assert Claim(T1, zombie.epoch + 1, 2) == claim
    assert (await row_of(store)).lease_until == later(2 * LEASE)
    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "late"), epoch=zombie.epoch))


async def test_commit_that_is_refused_leases_nothing(store: Store) -> None:
    """An overtaken one and a duplicate leave the row as it was."""
    key = InboxKey(source="web", key="1")
    await committed(store, launching(wake_at=NOW, inbox=key))
    before = await row_of(store)

    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "more"), seen=7, lease_ms=LEASE))
    again = replace(saying("t1", "again"), inbox=key, lease_ms=LEASE)
    assert not isinstance(await store.commit(again), Committed)

    assert before == await row_of(store)


async def test_of_commits_at_the_same_time_one_gets_the_lease(store: Store, another: Store) -> None:
    """Among each other and with those who claim: one run per thread at a time."""
    for _ in range(5):
        await launched(store, f"t{_}", wake_at=NOW)

        results = await asyncio.gather(
            *(
                (store, another)[number % 2].commit(
                    replace(saying(f"t{_}", str(number)), lease_ms=LEASE)
                )
                for number in range(8)
            ),
            another.claim(now=NOW, lease_ms=LEASE, limit=9),
        )

        epochs = [
            done.epoch for done in results if isinstance(done, Committed) and done.epoch is not None
        ]
        epochs += [claim.epoch for found in results if isinstance(found, list) for claim in found]
        assert epochs == [1]


# --- giving it back -------------------------------------------------------------------------------


async def test_last_commit_of_a_run_gives_the_lease_back(store: Store) -> None:
    """The thread waits, all of it is handled, and the epoch stays as the fence that it is."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)

    assert await committed(store, resting(claim)) == 2

    row = await row_of(store)
    assert (row.wake_at, row.lease_until, row.handled_seq, row.seq) == (None, None, 2, 2)
    assert row.epoch == claim.epoch
    assert await store.queued(now=later(10 * LEASE)) == 0
    with pytest.raises(Fenced):
        await store.commit(replace(saying("t1", "late"), epoch=claim.epoch))
    assert await store.renew([claim], now=NOW, lease_ms=LEASE) == []


async def test_released_thread_can_be_claimed_or_leased_at_once(store: Store) -> None:
    """Nobody waits for the rest of a lease that was given back."""
    await launched(store, wake_at=NOW)
    first = await claimed(store)
    await committed(store, resting(first, wake_at=NOW))

    second = await claimed(store)
    assert Claim(T1, first.epoch + 1, 2) == second
    await committed(store, resting(second))

    third = await leased(store, saying("t1", "more"))
    assert Claim(T1, second.epoch + 1, 4) == third


async def test_release_by_commit_can_set_a_timer(store: Store) -> None:
    """A wake in the future is claimed when it comes."""
    await launched(store, wake_at=NOW)
    await committed(store, resting(await claimed(store), wake_at=later(500)))

    assert await store.claim(now=later(499), lease_ms=LEASE, limit=9) == []
    assert (await claimed(store, later(500))).seq == 2


async def test_release_by_commit_is_fenced(store: Store) -> None:
    """A zombie's last word changes nothing, and takes no one's lease away."""
    await launched(store, wake_at=NOW)
    zombie = await claimed(store)
    await claimed(store, later(LEASE))
    before = await row_of(store)

    with pytest.raises(Fenced):
        await store.commit(resting(zombie))

    assert before == await row_of(store)


async def test_release_by_commit_that_has_not_seen_all_is_refused(store: Store) -> None:
    """What came meanwhile is never taken for handled: the lease stays, and the worker goes on."""
    await launched(store, wake_at=NOW)
    claim = await claimed(store)
    await committed(store, saying("t1", "wait!"))

    with pytest.raises(Overtaken):
        await store.commit(resting(claim))

    row = await row_of(store)
    assert (row.lease_until, row.handled_seq, row.seq) == (later(LEASE), 0, 2)


@pytest.mark.parametrize(
    "mistake",
    [
        Commit(thread=T1, release=True, seen=1, wake_at=None, now=NOW),
        Commit(thread=T1, release=True, epoch=1, wake_at=None, now=NOW),
        Commit(thread=T1, release=True, epoch=1, seen=1, now=NOW),
        Commit(thread=T1, lease_ms=LEASE, epoch=1, now=NOW),
    ],
    ids=["no epoch", "nothing seen", "no wake", "asks for what it holds"],
)
async def test_leases_that_make_no_sense_are_refused(store: Store, mistake: Commit) -> None:
    """They are mistakes of ours, found before anything is written."""
    await launched(store, wake_at=NOW)
    await claimed(store)

    with pytest.raises(ValueError, match="a commit that"):
        await store.commit(mistake)
