"""Letting go: an ended thread with all that hangs on it, and other words in place of somebody's."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from agent_core.thread.events import ErasedRow, Millis, PersonErased, ThreadId
from agent_core.thread.questions import QuestionId
from storage.errors import UnknownThread
from storage.retention import (
    ERASED,
    EndedWish,
    Purge,
    Rewrite,
    RewrittenDelivery,
    Tombstone,
)
from storage.sealed import KeptDelivery, KeptEvent, SealedLog
from storage.seals import fault, link_of
from storage.store import Store
from storage.texts import event_text
from storage.values import (
    CachedStatus,
    Commit,
    DeliveryEnd,
    DeliveryId,
    InboxKey,
    Snapshot,
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
    said,
    saying,
)
from tests.doubles.seals import seal


async def log_of(store: Store, thread: ThreadId = T1) -> SealedLog:
    """Read a thread as an audit does."""
    log = await store.audit().log(thread)
    assert log is not None
    return log


async def over(
    store: Store, thread: str = "t1", *, status: CachedStatus = "finished", now: Millis = NOW
) -> None:
    """Write a thread that has ended."""
    await committed(store, launching(thread, key=f"key of {thread}", now=now))
    await committed(store, replace(saying(thread, "thanks", now=now), status=status, wake_at=None))


async def purge_of(store: Store, thread: ThreadId = T1, *asked: str) -> Purge:
    """Say what would be purged, as it stands."""
    log = await log_of(store, thread)
    stone = Tombstone(
        thread=thread,
        at=later(5),
        by="cli",
        seq=log.seq,
        entries=len(log.events) + len(log.deliveries),
        chain=log.chain,
        records=b"records",
        mark=b"mark",
    )
    questions = [QuestionId(one) for one in asked]
    return Purge(tombstone=stone, questions=questions, updated_at=log.updated_at, now=later(5))


async def rewrite_of(store: Store, text: str, **more: object) -> Rewrite:
    """Say what the second event should be from now on."""
    log = await log_of(store)
    new = event_text(said(text))
    was, now = (
        link_of(seal, T1, one).value.hex() for one in (log.events[1], KeptEvent(2, new.encode()))
    )
    row = ErasedRow(seq=2, link=was, record="r", now=now)
    wanted = Rewrite(
        thread=T1,
        seen=log.seq,
        updated_at=log.updated_at,
        chain=log.chain,
        events=[(2, new)],
        deliveries=[],
        erased=PersonErased(at=later(9), name="erased person #1", rows=(row,), by="cli"),
        origin="web:erased-1",
        requester="erased person #1",
        thread_key="",
        summary={"result": "[erased]"},
        questions=[],
        snapshot=None,
        now=later(9),
    )
    return replace(wanted, **more)


def erased_row(row: KeptDelivery) -> ErasedRow:
    """Say that a delivery is to have nothing in it, to nobody."""
    new = row._replace(address="web:x", body=b"{}")
    was, now = (link_of(seal, T1, one).value.hex() for one in (row, new))
    return ErasedRow(seq=row.seq, delivery=row.id, link=was, record="r", now=now)


async def sent(store: Store) -> None:
    """Send all that is due, one after the other."""
    while leased := await store.claim_deliveries(now=later(1), lease_ms=LEASE, limit=10):
        ends = [DeliveryEnd(delivery=one, status="sent", receipt={}) for one in leased]
        await store.end_deliveries(ends)


# --- purging --------------------------------------------------------------------------------------


async def test_purged_thread_leaves_a_tombstone_and_nothing_else(store: Store) -> None:
    """Events, snapshot, questions, deliveries, places and the key go with it; others stay."""
    for name in ("t1", "t2"):
        await over(store, name)
        asked = question(f"q of {name}", name, status="answered")
        new = replace(saying(name), deliveries=[delivery()], questions=[asked], parties=["ann"])
        await committed(store, replace(new, places=[f"slack:T1:{name}"], wake_at=None))
        await store.save_snapshot(ThreadId(name), Snapshot(1, b"{}"))
    await sent(store)
    purge = await purge_of(store, T1, "q of t1", "q of t2", "q of nobody")

    places = await store.retention().purge(purge)

    assert places == ["slack:T1:t1"]
    assert await store.thread(T1) is None
    assert await store.load(T1) is None
    assert await store.events(T1) == []
    assert await store.deliveries(T1) == []
    assert await store.question(QuestionId("q of t1")) is None
    assert await store.thread_by_key("support", "key of t1") is None
    assert await store.thread_at("slack:T1:t1") is None
    assert await store.audit().strays() == []
    assert not await store.takes_part(T1, ["ann"])
    assert await store.takes_part(T2, ["ann"])
    assert await store.retention().tombstone(T1) == purge.tombstone
    assert await store.retention().tombstones() == [purge.tombstone]
    assert await store.retention().tombstones(after="t1") == []
    left = await store.load(T2)
    assert left is not None
    assert left.snapshot is not None
    assert await store.question(QuestionId("q of t2")) is not None
    assert await store.thread_at("slack:T1:t2") == T2
    assert len(await store.deliveries(T2)) == 1
    with pytest.raises(UnknownThread):
        await store.commit(saying("t1", "is anybody there?"))


@pytest.mark.parametrize("status", ["running", "waiting", "paused"])
async def test_thread_that_is_not_over_is_never_purged(store: Store, status: CachedStatus) -> None:
    """Neither listed nor deleted."""
    await over(store, status=status)

    assert await store.retention().ended(EndedWish(before=later(10))) == []
    assert await store.retention().purge(await purge_of(store)) is None
    assert await store.thread(T1) is not None


async def test_thread_with_something_left_to_do_is_not_purged(store: Store) -> None:
    """Whatever its status says: a timer, something to send, a lease, an open question."""
    for name in ("timer", "outbox", "leased", "open"):
        await over(store, name, status="failed")
    await committed(store, replace(saying("timer"), wake_at=later(99)))
    await committed(store, replace(saying("outbox"), deliveries=[delivery()]))
    leased = Commit(thread=ThreadId("leased"), now=NOW, wake_at=None, lease_ms=LEASE)
    await committed(store, leased)
    await committed(store, replace(saying("open"), questions=[question("q", "open")]))

    kept = [
        await store.retention().purge(await purge_of(store, ThreadId(name), "q"))
        for name in ("timer", "outbox", "leased", "open")
    ]

    assert kept == [None] * 4


async def test_thread_that_wakes_between_reading_and_purging_stays(store: Store) -> None:
    """A message that came meanwhile is not lost, also if the thread has ended again since."""
    await over(store)
    purge = await purge_of(store)
    await committed(store, replace(saying("t1", "one more thing"), status="finished", wake_at=None))

    assert await store.retention().purge(purge) is None
    assert len(await store.events(T1)) == 3


async def test_thread_without_a_chain_is_guarded_as_well(place: Place, store: Store) -> None:
    """A library's store has no key: what came meanwhile shows in the row itself."""
    keyless = place.keyless()
    await keyless.open()
    for name in (T1, T2):
        await over(keyless, name)
    purges = [await purge_of(keyless, name) for name in (T1, T2)]
    more = replace(saying("t1", "wait!"), status="finished", wake_at=None)
    await committed(keyless, more)

    outcomes = [await keyless.retention().purge(one) for one in purges]
    await committed(keyless, saying("t1", "I am Ann"))
    old = await rewrite_of(keyless, "[erased]")
    await committed(keyless, saying("t1", "one more"))

    assert outcomes == [None, []]
    assert not await keyless.retention().rewrite(old)
    assert await keyless.retention().rewrite(await rewrite_of(keyless, "[erased]"))
    assert await keyless.retention().purge(await purge_of(keyless)) == []
    await keyless.close()


async def test_purge_and_message_at_once_have_one_winner(store: Store, another: Store) -> None:
    """Either the message finds no thread, or the thread stays with the message."""
    names = [ThreadId(f"t{number}") for number in range(10)]
    for name in names:
        await over(store, name)
    purges = [await purge_of(store, name) for name in names]

    async def say(name: str) -> bool:
        try:
            await another.commit(replace(saying(name, "wait!"), wake_at=NOW))
        except UnknownThread:
            return False
        return True

    outcomes = await asyncio.gather(
        *(store.retention().purge(one) for one in purges), *(say(name) for name in names)
    )

    purged = [one is not None for one in outcomes[:10]]
    assert [not one for one in purged] == outcomes[10:]
    for name, is_gone in zip(names, purged, strict=True):
        assert len(await store.events(name)) == (0 if is_gone else 3)


async def test_ended_threads_are_listed_oldest_first_by_page(store: Store) -> None:
    """By age, agent and status; a page goes on where the last one ended."""
    statuses: tuple[CachedStatus, ...] = ("finished", "failed", "cancelled", "finished")
    for number, status in enumerate(statuses):
        await over(store, f"t{number}", status=status, now=later(number))
    await committed(store, launching("other", agent="desk", now=later(9)))
    await committed(store, replace(saying("other", "x"), status="finished", wake_at=None))
    ended = store.retention().ended

    first = await ended(EndedWish(before=later(3), limit=2))
    then = await ended(
        EndedWish(before=later(3), limit=2, after=(first[-1].created_at, first[-1].thread))
    )

    assert [one.thread for one in (*first, *then)] == ["t0", "t1", "t2"]
    [only] = await ended(EndedWish(before=later(3), statuses=("failed",)))
    assert (only.thread, only.status, only.agent) == ("t1", "failed", "support")
    assert [one.thread for one in await ended(EndedWish(before=later(99), agent="desk"))] == [
        "other"
    ]
    assert await ended(EndedWish(before=later(99), agent="\0")) == []


async def test_copies_of_messages_are_forgotten_with_their_threads(store: Store) -> None:
    """The keys of messages to a purged thread go, a few at a time; those of others stay."""
    keys = [InboxKey(source="api:otto", key=f"k{number}", digest="d") for number in range(4)]
    for number, key in enumerate(keys):
        await committed(store, launching(f"t{number}", inbox=key))
        await committed(store, replace(saying(f"t{number}"), status="finished", wake_at=None))
    for name in ("t1", "t2"):
        assert await store.retention().purge(await purge_of(store, ThreadId(name))) == []

    looked, last = [], ("", "")
    while (found := await store.retention().forget_copies(last, limit=2)) is not None:
        looked.append(found)
        last = found

    assert looked == [("api:otto", "k1"), ("api:otto", "k3")]
    there = [await store.inbox("api:otto", key.key) for key in keys]
    assert [one is not None for one in there] == [True, False, False, True]


# --- other words ----------------------------------------------------------------------------------


async def test_rewritten_thread_has_other_words_and_a_chain_that_fits(store: Store) -> None:
    """All of its rows change together, and an event tells of it."""
    await launched(store)
    await committed(
        store, replace(saying("t1", "I am Ann", "and?"), questions=[question()], wake_at=None)
    )
    await store.save_snapshot(T1, Snapshot(3, b"Ann"))
    body = replace(question(body={"prompt": "[erased]"}), status="withdrawn", asked=("bob",))
    before = await store.thread(T1)
    wanted = await rewrite_of(store, "[erased]", questions=[body], snapshot=Snapshot(4, b"none"))

    assert await store.retention().rewrite(wanted)

    loaded = await store.load(T1, after=0)
    assert before is not None
    assert loaded is not None
    assert loaded.events == [*loaded.events[:1], said("[erased]"), said("and?"), wanted.erased]
    row = loaded.row
    assert (row.seq, row.origin, row.requester) == (4, "web:erased-1", "erased person #1")
    assert (row.summary, row.updated_at) == ({"result": "[erased]"}, before.updated_at)
    assert row.epoch > before.epoch
    there = await store.question(QuestionId("q1"))
    assert there is not None
    assert (there.status, there.body) == ("withdrawn", {"prompt": "[erased]"})
    assert there.asked == ("bob",)
    assert fault(seal, await log_of(store)) == ""
    await store.save_snapshot(T1, Snapshot(3, b"Ann"))  # of somebody who was slow
    snapshot = await store.load(T1)
    assert snapshot is not None
    assert snapshot.snapshot == Snapshot(4, b"none")


async def test_rewritten_delivery_is_never_sent_and_never_sent_again(store: Store) -> None:
    """One on its way to somebody who was erased ends; one that was sent stays so."""
    await launched(store)
    await committed(
        store, replace(saying("t1", "hi"), deliveries=[delivery("d1", "a"), delivery("d2", "b")])
    )
    leased = await store.claim_deliveries(now=later(1), lease_ms=LEASE, limit=1)
    end = DeliveryEnd(delivery=leased[0], status="sent", receipt={"to": "Ann"}, error="Ann?")
    new = [
        RewrittenDelivery(id=DeliveryId(name), address="web:x", body={}, clears=True, ends=True)
        for name in ("d1", "d2")
    ]
    wanted = await rewrite_of(store, "[erased]", deliveries=new)
    rows = [erased_row(one) for one in (await log_of(store)).deliveries]
    told = replace(wanted.erased, rows=(*wanted.erased.rows, *rows))
    wanted = replace(wanted, erased=told)
    await store.end_deliveries([end])  # after it was read

    assert await store.retention().rewrite(wanted)

    one, two = await store.deliveries(T1)
    assert (one.status, one.receipt, one.error, one.address) == ("sent", None, "", "web:x")
    assert (two.status, two.error, two.body) == ("failed", ERASED, {})
    assert await store.claim_deliveries(now=later(2), lease_ms=LEASE, limit=9) == []


async def test_delivery_that_was_being_sent_when_it_was_erased_brings_nothing_back(
    store: Store,
) -> None:
    """Its sender comes back with where it went: nobody wants to know that any more."""
    await launched(store)
    await committed(store, replace(saying("t1", "hi"), deliveries=[delivery("d1", "a")]))
    [leased] = await store.claim_deliveries(now=later(1), lease_ms=LEASE, limit=1)
    gone = RewrittenDelivery(id=DeliveryId("d1"), address="web:x", body={}, clears=True, ends=True)
    wanted = await rewrite_of(store, "[erased]", deliveries=[gone])
    [row] = (await log_of(store)).deliveries
    told = replace(wanted.erased, rows=(*wanted.erased.rows, erased_row(row)))
    assert await store.retention().rewrite(replace(wanted, erased=told))

    end = DeliveryEnd(delivery=leased, status="sent", receipt={"to": "Ann"}, place="slack:T1:D1")
    recorded = await store.end_deliveries([end])

    [now] = await store.deliveries(T1)
    assert (recorded, now.status, now.receipt) == ([False], "failed", None)
    assert await store.thread_at("slack:T1:D1") is None


async def test_thread_that_has_moved_on_or_is_held_is_not_rewritten(store: Store) -> None:
    """Whoever works on it has the old words in mind: first it must let go."""
    await launched(store)
    await committed(store, saying("t1", "I am Ann"))
    old = await rewrite_of(store, "[erased]")
    await committed(store, replace(saying("t1"), deliveries=[delivery()], now=later(2)))
    assert not await store.retention().rewrite(old)
    held = Commit(thread=T1, now=NOW, wake_at=NOW, lease_ms=LEASE)
    await committed(store, held)

    assert not await store.retention().rewrite(await rewrite_of(store, "[erased]"))
    after = replace(await rewrite_of(store, "[erased]"), now=later(LEASE + 1))
    assert await store.retention().rewrite(after)
    assert fault(seal, await log_of(store)) == ""


async def test_erased_row_that_is_changed_or_put_back_is_found(store: Store) -> None:
    """Neither the new words nor the old ones can take the place of the others."""
    await launched(store)
    await committed(store, saying("t1", "I am Ann"))
    before = await log_of(store)
    assert await store.retention().rewrite(await rewrite_of(store, "[erased]"))
    after = await log_of(store)

    back = replace(after, events=[after.events[0], before.events[1], after.events[2]])
    other = KeptEvent(2, event_text(said("I am Bob")).encode())
    changed = replace(after, events=[after.events[0], other, after.events[2]])
    silent = replace(after, seq=2, events=after.events[:2])

    assert fault(seal, after) == ""
    assert "is back" in fault(seal, back)
    assert "not those that were sealed" in fault(seal, changed)
    assert "not those that were sealed" in fault(seal, silent)


# --- what is kept beside threads ------------------------------------------------------------------


async def test_places_of_somebody_are_forgotten(store: Store) -> None:
    """The address itself and all below it, and no other that begins like it."""
    theirs = ["email:ann@x.org", "email:Ann@x.org:0f3c"]
    others = ["email:ann@x.organic", "email:bob@x.org:1"]
    await launched(store)
    await committed(store, replace(saying("t1"), places=[*theirs, *others]))

    assert await store.retention().forget_places(["email:ann@x.org", "slack:T1:U1"]) == 2

    found = [await store.thread_at(place) for place in (*theirs, *others)]
    assert found == [None, None, T1, T1]


async def test_who_had_a_part_is_forgotten(store: Store) -> None:
    """In every thread, and nobody else."""
    for name in ("t1", "t2"):
        await launched(store, name)
        await committed(store, replace(saying(name), parties=["ann", "email:ann@x.org", "bob"]))

    assert await store.retention().forget_parties(["ann", "email:ann@x.org"]) == 4

    found = [await store.takes_part(one, [who]) for one in (T1, T2) for who in ("ann", "bob")]
    assert found == [False, True, False, True]


async def test_keys_of_somebodys_messages_are_forgotten(store: Store) -> None:
    """By who sent them, and by what they are named after."""
    keys = (("api:Ann", "1"), ("api:bob", "1"), ("email", "<Ann@x.org>"), ("email", "<bob@x.org>"))
    for number, (source, key) in enumerate(keys):
        await committed(store, launching(f"t{number}", inbox=InboxKey(source=source, key=key)))

    assert await store.retention().forget_senders(["api:ann"], ["ann@x.org", ""]) == 2

    found = [await store.inbox(source, key) is not None for source, key in keys]
    assert found == [False, True, False, True]


async def test_kept_mails_are_forgotten_before_their_time(store: Store) -> None:
    """By how soon they would go anyway, under one beginning of their names, a few at a time."""
    for number in range(5):
        await store.keep("email", f"raw:{number}", b"x", now=NOW, expires_at=later(10 + number))
    await store.keep("email", "raw:kept", b"x", now=NOW)
    await store.keep("email", "rax", b"x", now=NOW, expires_at=later(10))
    await store.keep("slack", "raw:1", b"x", now=NOW, expires_at=later(10))
    forget = store.retention().forget_kept

    gone = [await forget("email", "raw:", expiring_before=later(14), limit=3) for _ in range(3)]

    assert gone == [3, 1, 0]
    assert await store.kept("email", now=NOW) == ["raw:4", "raw:kept", "rax"]
    assert await store.kept("slack", now=NOW) == ["raw:1"]
    assert await store.retention().scour() in (True, False)
