"""Purging: what is over and old goes, with its mails; what an audit needs stays."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec
import pytest
from msgspec.structs import replace

from agent_core.errors import WrongStatus
from agent_core.loop.world import World
from agent_core.thread.events import Millis
from channels.email.conversations import Conversation
from channels.email.forgetting import KEPT_SECONDS
from channels.recording import DictMemory
from gateway.audit.beginning import begin, begin_anew
from gateway.audit.paper import read_paper
from gateway.audit.verification import compare, marks_in, marks_of, verify_store
from gateway.control.service import NotFound
from gateway.retention.nightly import purge_each_night, purge_now
from gateway.retention.on_demand import Purger
from gateway.retention.purging import Purging, Which
from gateway.settings.config import RetentionRules
from storage.memory import MemoryStore, MemoryTables
from storage.store import Store
from tests.contract.stores.rows import T1, T2
from tests.contract.stores.test_retention import over, sent
from tests.doubles.seals import another_seal, seal
from tests.unit.gateway.audit.ledger import exported, refunded
from tests.unit.gateway.control.test_local import echoing
from tests.unit.gateway.workshop import until, workshop

DAY = 24 * 3_600_000
NOW = Millis(1_800_000_000_000 + 100 * DAY)


def world(now: Millis = NOW) -> World:
    """Stop the clock."""
    return World(now=lambda: now)


async def opened(tables: MemoryTables | None = None) -> MemoryStore:
    """Give a store whose audit has begun."""
    store = MemoryStore(tables, seal=seal)
    await store.open()
    await begin(store, seal, now=NOW)
    return store


def purging(store: Store, mails: DictMemory | None = None) -> Purging:
    """Make one that purges."""
    return Purging(store, seal, mails or DictMemory(), world=world())


async def purged(store: Store, which: Which) -> list[str]:
    """Purge, and name what went."""
    return [one.thread async for one in purging(store).purge_all(which, by="cli")]


async def test_old_threads_go_and_younger_ones_stay() -> None:
    """By when they were last touched, over as many pages as it takes."""
    store = await opened()
    for number in range(150):
        await over(store, f"t{number:03d}", now=Millis(NOW - 30 * DAY + number * DAY // 5))

    gone = await purged(store, Which(older_than_ms=10 * DAY))

    assert gone == [f"t{number:03d}" for number in range(100)]
    report = await verify_store(store, seal, now=NOW)
    assert (report.threads, report.purged, report.findings) == (50, 100, [])


async def test_purge_of_one_says_why_not() -> None:
    """Unknown, or not over."""
    store = await opened()
    await over(store, status="waiting")

    with pytest.raises(NotFound):
        await purging(store).purge_one("t9", by="cli")
    with pytest.raises(WrongStatus, match="waiting"):
        await purging(store).purge_one("t1", by="cli")


async def test_who_writes_to_a_purged_thread_is_told_that_there_is_none() -> None:
    """Also by a server that has it in mind."""
    store = MemoryStore(seal=seal)
    async with workshop(store, echoing()) as here:
        here.listen()
        here.engine(nearby=here.nearby)
        thread = await here.launch()
        await here.rested(thread)
        await here.released(thread)
        await sent(store)
        assert here.nearby.states.get(thread) is not None
        await purging(store).purge_one(thread, by="cli")

        with pytest.raises(NotFound):
            await here.gateway.say(thread, "hello?", by="lisa")


async def test_earlier_export_holds_after_a_purge_and_not_after_a_deletion() -> None:
    """One was purged by who had the key; the other is gone behind our back."""
    tables = MemoryTables()
    store = MemoryStore(tables, seal=seal)
    async with refunded(store) as (_, thread):
        await begin(store, seal, now=NOW)
        await over(store, "t2")
        await sent(store)
        earlier = list(read_paper((await exported(store)).splitlines(), seal))
        await purging(store).purge_one(thread, by="cli otto")
        for table in (tables.threads, tables.events, tables.chains):
            del table[T2]

        found = await compare(earlier, marks_of(store, seal), seal)
        now = list(read_paper((await exported(store)).splitlines(), seal))

        assert [(one.thread, one.what[:10]) for one in found] == [("t2", "it is gone")]
        assert found == await compare(earlier, marks_in(now), seal)
        assert await compare(now, marks_of(store, seal), seal) == []
        [line] = now
        assert (line.what, line.who, line.thread) == ("ThreadPurged", "cli otto", thread)
        assert "its chain ended at" in line.outcome


async def test_forged_tombstone_is_found() -> None:
    """Who has the database and not the key can't make a deletion look like a purge."""
    tables = MemoryTables()
    store = await opened(tables)
    await over(store)
    earlier = list(read_paper((await exported(store)).splitlines(), seal))
    other = Purging(store, another_seal, DictMemory(), world=world())
    await other.purge_one("t1", by="cli")

    report = await verify_store(store, seal, now=NOW)
    found = await compare(earlier, marks_of(store, seal), seal)

    assert [(one.thread, one.what[:26]) for one in report.findings] == [
        ("t1", "it is said to have been pu")
    ]
    assert [one.what[:10] for one in found] == ["it is gone"]
    await begin_anew(store, another_seal, now=NOW)  # the key was replaced: all is sealed anew
    assert (await verify_store(store, another_seal, now=NOW)).findings == []


async def test_export_that_a_purged_thread_can_not_have_had_is_found() -> None:
    """More events than it had, or others."""
    store, elsewhere = await opened(), await opened()
    await over(store)
    await over(elsewhere, status="failed")
    same = list(read_paper((await exported(store)).splitlines(), seal))
    for one in (store, elsewhere):
        await purging(one).purge_one("t1", by="cli")
    other = [entry for entry in same if entry.seq == 1]

    assert await compare(same, marks_of(elsewhere, seal), seal) == []  # the very same events
    assert await compare(other, marks_of(store, seal), seal) == []  # an export of earlier
    changed = [replace(one, record="00") for one in same]
    more = [*same, replace(same[0], seq=3)]
    for told in (changed, more):
        [finding] = await compare(told, marks_of(store, seal), seal)
        assert "purged" in finding.what


async def test_mails_of_a_thread_go_with_it() -> None:
    """As they came, and what our next mail would have had to fit to; those of others stay."""
    store, mails = await opened(), DictMemory()
    await over(store)
    mails.kept = {"thread:t1:1:aa": b"1", "raw:aa": b"x", "raw:bb": b"y", "thread:t2:1:bb": b"1"}

    await purging(store, mails).purge_one("t1", by="cli")

    assert sorted(mails.kept) == ["raw:bb", "thread:t2:1:bb"]


async def test_mails_that_a_kill_left_behind_go_with_the_next_purge() -> None:
    """The thread was gone and its mails were not; those of a thread that is not there yet stay."""
    store, mails = await opened(), DictMemory()
    await over(store)
    await purging(store).purge_one("t1", by="cli")
    talk = msgspec.json.encode(Conversation(subject="my illness", thread="t1"))
    mails.kept = {"thread:t1:1:aa": b"1", "raw:aa": b"x", "conversation:cc": talk}
    others = {"raw:bb": b"y", "thread:t2:1:bb": b"1", "conversation:dd": b"{}"}
    mails.kept |= others

    await purging(store, mails).forget_the_rest()

    assert mails.kept == others


async def test_night_purges_threads_and_mails_by_the_rules() -> None:
    """Both counts; without a rule, neither."""
    store = await opened()
    await over(store, "t1", now=Millis(NOW - 40 * DAY))
    await over(store, "t2", now=Millis(NOW - 5 * DAY))
    for days in (1, 20, 50):
        expires = Millis(NOW - days * DAY + round(KEPT_SECONDS * 1000))
        await store.keep("email", f"raw:{days}", b"x", now=NOW, expires_at=expires)
    rules = RetentionRules(threads="30d", mails="2w")

    assert await purge_now(purging(store), store, RetentionRules(), now=NOW) == (0, 0)
    assert await purge_now(purging(store), store, rules, now=NOW) == (1, 2)
    assert await store.kept("email", now=NOW) == ["raw:1"]
    assert await store.thread(T1) is None
    assert await store.thread(T2) is not None


def moment(hour: int) -> Millis:
    """Give a time of a day after all that was written."""
    return Millis(round(datetime(2030, 1, 1, hour, tzinfo=UTC).timestamp() * 1000))


@pytest.mark.parametrize(("hour", "goes"), [(2, True), (12, False)])
async def test_it_is_done_by_night_and_once(hour: int, goes: bool) -> None:  # noqa: FBT001
    """Of several processes one takes the turn; by day none does."""
    store = await opened()
    await over(store)
    rules = RetentionRules(threads="1d")
    looks = 0

    def tick() -> Millis:
        nonlocal looks
        looks += 1
        return moment(hour)

    clock = World(now=tick)
    workers = [
        asyncio.create_task(
            purge_each_night(purging(store), store, rules, world=clock, every_seconds=0)
        )
        for _ in range(3)
    ]
    await until(lambda: looks > 30)
    for task in workers:
        task.cancel()
    await asyncio.wait(workers)

    turns = await store.kept("retention", now=moment(hour))
    assert turns == (["night:2030-01-01"] if goes else [])
    assert (await store.thread(T1) is None) is goes


async def test_server_with_another_key_purges_nothing() -> None:
    """Its tombstones would be nobody's, and the audit would tell of deletions for ever."""
    store = await opened()
    await over(store)
    looks = 0

    def tick() -> Millis:
        nonlocal looks
        looks += 1
        return moment(2)

    other = Purging(store, another_seal, DictMemory(), world=World(now=tick))
    rules = RetentionRules(threads="1d")
    night = purge_each_night(other, store, rules, world=World(now=tick), every_seconds=0)
    worker = asyncio.create_task(night)
    await until(lambda: looks > 30)
    worker.cancel()
    await asyncio.wait([worker])
    with pytest.raises(WrongStatus, match="PARLEY_SECRET_KEY"):
        await Purger(store, another_seal, DictMemory()).purge_one("t1", by="api")

    assert await store.thread(T1) is not None
    assert await store.kept("retention", now=moment(2)) == []
