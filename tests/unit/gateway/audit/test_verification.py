"""Finding changes, in a database and beside an earlier export."""

from __future__ import annotations

import time

from msgspec.structs import replace

from agent_core.thread.events import ThreadId
from gateway.audit.beginning import begin
from gateway.audit.paper import read_paper
from gateway.audit.verification import Finding, compare, marks_in, marks_of, verify_store
from storage.memory import MemoryStore, MemoryTables
from storage.seals import chain_of
from tests.contract.stores.rows import T1, committed, delivery, launched, saying
from tests.doubles.seals import another_seal, seal
from tests.unit.gateway.audit.ledger import NOW, exported, refunded


async def opened(tables: MemoryTables | None = None) -> MemoryStore:
    """Give a store whose audit has begun."""
    store = MemoryStore(tables, seal=seal)
    await store.open()
    await begin(store, seal, now=NOW)
    return store


async def test_story_that_nobody_touched_is_whole() -> None:
    """Also beside an export of it, and after more came."""
    store = MemoryStore(seal=seal)
    async with refunded(store) as (here, thread):
        await begin(store, seal, now=NOW)
        earlier = list(read_paper((await exported(store)).splitlines(), seal))
        await here.gateway.say(thread, "thanks", by="lisa")
        await here.rested(thread)
        report = await verify_store(store, seal, now=NOW)

        assert report.findings == []
        assert (report.threads, report.begun) == (1, "2027-01-15T08:00:00.000Z")
        assert await compare(earlier, marks_of(store, seal), seal) == []


async def test_forks_and_imports_are_sealed_like_any_thread() -> None:
    """They are commits like others."""
    store = MemoryStore(seal=seal)
    async with refunded(store) as (here, thread):
        await begin(store, seal, now=NOW)
        fork = await here.gateway.fork(thread, by="lisa")
        text = await here.gateway.export(fork.id)
        await here.gateway.import_(text.replace(fork.id, "th_elsewhere"), by="lisa")

        report = await verify_store(store, seal, now=NOW)
    assert (report.threads, report.findings) == (3, [])


async def test_thread_that_is_gone_shows_only_beside_an_earlier_export() -> None:
    """Its chain went with it: so does one that was cut short by somebody who kept an older one."""
    tables = MemoryTables()
    store = await opened(tables)
    await launched(store, "t2")
    await launched(store)
    older = (tables.threads[T1], list(tables.events[T1]), tables.chains[T1])
    await committed(store, saying("t1", "one"))
    earlier = list(read_paper((await exported(store)).splitlines(), seal))
    tables.threads[T1], tables.events[T1], tables.chains[T1] = older
    del tables.threads[ThreadId("t2")], tables.events[ThreadId("t2")]

    report = await verify_store(store, seal, now=NOW)
    lost = await compare(earlier, marks_of(store, seal), seal)

    assert report.findings == []
    assert lost == [
        Finding(
            "MessageReceived of 2027-01-15T08:00:00.000Z, event 2, was changed or removed since",
            "t1",
        ),
        Finding("it is gone: the earlier export has it", "t2"),
    ]
    now = list(read_paper((await exported(store)).splitlines(), seal))
    assert lost == await compare(earlier, marks_in(now), seal)
    assert await compare(now, marks_in(earlier), seal) == []


async def test_what_lost_its_thread_is_found() -> None:
    """Events and deliveries without a row."""
    tables = MemoryTables()
    store = await opened(tables)
    await launched(store)
    await committed(store, replace(saying("t1", "one"), deliveries=[delivery()]))
    del tables.threads[T1]

    report = await verify_store(store, seal, now=NOW)

    assert [(one.thread, one.what[:9]) for one in report.findings] == [("t1", "there are")]


async def test_other_key_is_one_finding_and_not_one_for_each_thread() -> None:
    """The words say which setting it is."""
    store = await opened()
    for name in ("t1", "t2", "t3"):
        await launched(store, name)

    report = await verify_store(store, another_seal, now=NOW)

    [finding] = report.findings
    assert "another PARLEY_SECRET_KEY" in finding.what


async def test_audit_that_never_began_says_so() -> None:
    """Unless there is nothing yet that could have been changed."""
    store = MemoryStore(seal=seal)
    await store.open()
    assert (await verify_store(store, seal, now=NOW)).findings == []

    await launched(store)

    [finding] = (await verify_store(store, seal, now=NOW)).findings
    assert "has not begun" in finding.what


async def test_hundred_threads_are_verified_at_once() -> None:
    """A hundred logs of thirty events, well within a second on a quiet machine."""
    store = await opened()
    for number in range(100):
        await launched(store, f"t{number}")
        await committed(store, saying(f"t{number}", *(f"text {n}" * 20 for n in range(29))))

    start = time.process_time()
    report = await verify_store(store, seal, now=NOW)

    assert (report.threads, report.entries, report.findings) == (100, 3000, [])
    assert time.process_time() - start < 2


async def test_export_may_be_of_one_thread_or_of_late() -> None:
    """The end says what was left out, and all of it is in what is compared."""
    store = await opened()
    await launched(store)
    await launched(store, "t2")
    await committed(store, saying("t2", "later", now=type(NOW)(NOW + 5)))

    one = list(read_paper((await exported(store, thread="t2")).splitlines(), seal))
    late = list(read_paper((await exported(store, since=NOW + 5)).splitlines(), seal))

    assert [(each.thread, each.seq) for each in one] == [("t2", 1), ("t2", 2)]
    assert [(each.thread, each.seq) for each in late] == [("t2", 2)]
    assert await compare([*one, *late], marks_of(store, seal), seal) == []
    log = await store.audit().log(T1)
    assert log is not None
    assert chain_of(seal, log) == log.chain
