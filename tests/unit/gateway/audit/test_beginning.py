"""Where the audit begins: once, with what stands there."""

from __future__ import annotations

import pytest

from agent_core.thread.events import Millis
from gateway.audit.beginning import OtherKey, begin, begin_anew, begun
from gateway.audit.verification import verify_store
from storage.memory import MemoryStore, MemoryTables
from tests.contract.stores.rows import committed, launched, saying
from tests.doubles.seals import another_seal, seal
from tests.unit.gateway.audit.ledger import NOW

LATER = Millis(NOW + 60_000)


async def test_threads_from_before_are_sealed_as_they_are_found_and_it_says_since_when() -> None:
    """A library's store had no key; the first server with one begins, and the next finds it so."""
    tables = MemoryTables()
    before = MemoryStore(tables)
    await before.open()
    for number in range(120):
        await launched(before, f"t{number}")
    store = MemoryStore(tables, seal=seal)
    await store.open()
    assert await begun(store, seal, now=NOW) is None

    assert await begin(store, seal, now=NOW) == NOW
    assert await begin(store, seal, now=LATER) == NOW

    await committed(store, saying("t7", "more"))
    report = await verify_store(store, seal, now=LATER)
    assert (report.threads, report.findings) == (120, [])
    assert report.begun == "2027-01-15T08:00:00.000Z"


async def test_later_server_seals_nothing_that_lost_its_seal() -> None:
    """Else whoever removes a seal would only have to wait for a restart."""
    tables = MemoryTables()
    store = MemoryStore(tables, seal=seal)
    await store.open()
    await begin(store, seal, now=NOW)
    await launched(store)
    tables.chains.clear()

    await begin(store, seal, now=LATER)

    [finding] = (await verify_store(store, seal, now=LATER)).findings
    assert finding.what.startswith("it has no seal")


async def test_replaced_key_is_told_and_everything_can_be_sealed_anew() -> None:
    """On purpose, by a command; and then it says since when."""
    store = MemoryStore(seal=seal)
    await store.open()
    await begin(store, seal, now=NOW)
    await launched(store)

    with pytest.raises(OtherKey, match="parley audit begin"):
        await begin(store, another_seal, now=LATER)
    await begin_anew(store, another_seal, now=LATER)

    assert await begun(store, another_seal, now=LATER) == LATER
    assert (await verify_store(store, another_seal, now=LATER)).findings == []


@pytest.mark.parametrize("record", [b"", b"1", b"1 ab", b"x" * 80, b"\xff 1"])
async def test_record_that_was_changed_is_told(record: bytes) -> None:
    """Also one that is no record at all."""
    store = MemoryStore(seal=seal)
    await store.open()
    await store.keep("audit", "since", record, now=NOW)

    with pytest.raises(OtherKey):
        await begun(store, seal, now=NOW)
