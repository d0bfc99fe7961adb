"""Chains: whatever is written moves them in the same transaction, and nothing else does.

That they fit is also checked after every other test of the suite, in `conftest.py`.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_core.loop.journal import Overtaken
from agent_core.thread.events import ThreadId
from storage.sealed import SealedLog
from storage.seals import chain_of, fault
from storage.store import Store
from tests.contract.stores.places import Place
from tests.contract.stores.rows import NOW, T1, T2, committed, delivery, later, launched, saying
from tests.doubles.seals import another_seal, seal


async def log_of(store: Store, thread: ThreadId = T1) -> SealedLog:
    """Read a thread as an audit does."""
    log = await store.audit().log(thread)
    assert log is not None
    return log


async def test_chain_covers_events_and_deliveries_in_the_order_of_writing(store: Store) -> None:
    """One commit or several, with or without events: the same chain can be worked out later."""
    await launched(store)
    await committed(store, replace(saying("t1", "one", "two", "three"), deliveries=[delivery()]))
    await committed(store, replace(saying("t1"), deliveries=[delivery("d2"), delivery("d3")]))
    await committed(store, saying("t1", "four"))

    log = await log_of(store)

    assert [event.seq for event in log.events] == [1, 2, 3, 4, 5]
    assert [(row.seq, row.id) for row in log.deliveries] == [(4, "d1"), (4, "d2"), (4, "d3")]
    assert fault(seal, log) == ""
    assert chain_of(seal, log) == log.chain
    assert fault(another_seal, log) == "its events or deliveries are not those that were sealed"


async def test_what_is_refused_moves_no_chain(store: Store) -> None:
    """A commit that was overtaken has written nothing, here as elsewhere."""
    await launched(store)
    before = (await log_of(store)).chain

    with pytest.raises(Overtaken):
        await store.commit(replace(saying("t1", "late"), seen=0))

    assert before == (await log_of(store)).chain


async def test_logs_are_given_page_by_page_each_once(store: Store) -> None:
    """In an order of the store's own, going on after the last of a page."""
    names = [f"t{number}" for number in range(7)]
    for name in names:
        await launched(store, name)

    found, last = [], ""
    while page := await store.audit().logs(after=last, limit=3):
        assert len(page) <= 3
        found += [log.thread for log in page]
        last = found[-1]

    assert names == found
    assert await store.audit().log(ThreadId("nobody\0")) is None


async def test_write_without_the_key_shows(store: Store, place: Place) -> None:
    """A thread from before is not sealed; one that is, no longer fits."""
    await launched(store)
    stranger = place.keyless()
    await stranger.open()
    await launched(stranger, "t2")
    await committed(stranger, saying("t1", "forged"))
    await stranger.close()

    assert fault(seal, await log_of(store, T2)).startswith("it has no seal")
    assert fault(seal, await log_of(store)) == (
        "its events or deliveries are not those that were sealed"
    )

    for thread in (T1, T2):  # as the end of every test wants it
        log = await log_of(store, thread)
        assert await store.audit().begin(log, chain_of(seal, log))


async def test_thread_from_before_is_sealed_as_it_stands_unless_it_moved_on(
    store: Store, place: Place
) -> None:
    """Who seals has read it before; what came since must not be left out."""
    stranger = place.keyless()
    await stranger.open()
    await launched(stranger)
    await stranger.close()
    read = await log_of(store)
    await committed(store, saying("t1", "meanwhile", now=later(1)))

    assert not await store.audit().begin(read, chain_of(seal, read))
    now = await log_of(store)
    assert now.chain is None
    assert await store.audit().begin(now, chain_of(seal, now))
    assert not await store.audit().begin(now, chain_of(seal, now))
    await committed(store, saying("t1", "after", now=later(2)))
    assert fault(seal, await log_of(store)) == ""


async def test_nothing_is_astray_where_nobody_was_at_work(store: Store) -> None:
    """Every event and delivery has its thread."""
    await launched(store)
    await committed(store, replace(saying("t1", "one"), deliveries=[delivery()], now=NOW))

    assert await store.audit().strays() == []
