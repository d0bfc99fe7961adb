"""Archiving: into files first, and only then away; and back again, the same."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_core.loop.world import World
from agent_core.thread.checkpoint import Log
from agent_core.thread.events import Millis, ThreadId
from channels.recording import DictMemory
from gateway.audit.beginning import begin
from gateway.audit.paper import read_paper
from gateway.audit.verification import compare, marks_of, verify_store
from gateway.control.service import NotFound
from gateway.control.views import ThreadView
from gateway.retention.archive_files import SpoiledArchive, read_archive, write_archive
from gateway.retention.archiving import Archiving, Outcome
from gateway.retention.plans import events_of
from gateway.retention.purging import Purging, Which
from storage.sealed import SealedLog
from storage.seals import fault
from storage.sqlite import SqliteStore
from tests.contract.stores.rows import saying
from tests.contract.stores.test_retention import sent
from tests.doubles.seals import seal
from tests.unit.gateway.audit.ledger import exported, refunded
from tests.unit.gateway.workshop import Workshop

DAY = 24 * 3_600_000


class Desk:
    """A store with a thread that is over, and one who archives it a day later."""

    def __init__(self, store: SqliteStore, here: Workshop, thread: ThreadId, folder: Path) -> None:
        self.store = store
        self.here = here
        self.thread = thread
        self.folder = folder
        world = World(now=lambda: Millis(World().now() + DAY))
        self.purging = Purging(store, seal, DictMemory(), world=world)

    async def log(self) -> SealedLog:
        """Read the thread as an auditor would."""
        log = await self.store.audit().log(self.thread)
        assert log is not None
        return log

    async def archived(self) -> list[Outcome]:
        """Archive what is over."""
        archiving = Archiving(self.store, seal, self.purging, self.folder)
        return [one async for one in archiving.archive_all(Which(older_than_ms=0), by="otto")]

    async def brought_back(self, outcome: Outcome) -> ThreadView:
        """Import the thread from its file."""
        [kept] = read_archive(self.folder / outcome.file)
        checkpoint = Log()
        checkpoint.extend(events_of(kept))
        return await self.here.gateway.import_(checkpoint.text(), by="otto")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """Tell the story of a refund to its end."""
    store = SqliteStore(tmp_path / "parley.db", seal=seal)
    folder = tmp_path / "archive"
    folder.mkdir()
    async with refunded(store) as (here, thread):
        await begin(store, seal, now=World().now())
        for _ in range(5):  # one after the other to each address
            await sent(store)
        yield Desk(store, here, thread, folder)


async def test_thread_is_in_a_file_as_it_was_and_not_in_the_store(desk: Desk) -> None:
    """Byte by byte, with its seal; its tombstone says in which file."""
    before = await desk.log()

    [outcome] = await desk.archived()

    [kept] = read_archive(desk.folder / outcome.file)
    assert kept == before
    assert fault(seal, kept) == ""
    assert await desk.store.thread(desk.thread) is None
    stone = await desk.store.retention().tombstone(desk.thread)
    assert stone is not None
    assert stone.by == f"otto, archived in {outcome.file}"
    report = await verify_store(desk.store, seal, now=World().now())
    assert (report.purged, report.findings) == (1, [])


async def test_whoever_looks_for_it_is_told_in_which_file_it_is(desk: Desk) -> None:
    """And of one that was purged, that it is gone for good."""
    [outcome] = await desk.archived()

    with pytest.raises(NotFound, match=rf"archived in {outcome.file}$"):
        await desk.here.gateway.thread(desk.thread)
    with pytest.raises(NotFound, match="there is no thread 'th_other'"):
        await desk.here.gateway.thread("th_other")


async def test_whoever_looks_for_a_purged_thread_is_told_that_it_is_gone(desk: Desk) -> None:
    """But not by whom: that is for the audit."""
    await desk.purging.purge_one(desk.thread, by="cli otto")

    with pytest.raises(NotFound, match=r"was taken out of the database on .* UTC, for good$"):
        await desk.here.gateway.thread(desk.thread)


async def test_thread_comes_back_under_its_own_id_with_all_its_events(desk: Desk) -> None:
    """And goes on from there, if somebody says more; the audit holds."""
    before = await desk.log()
    [outcome] = await desk.archived()

    view = await desk.brought_back(outcome)

    assert (view.id, view.status) == (desk.thread, "finished")
    assert (await desk.log()).events == before.events
    report = await verify_store(desk.store, seal, now=World().now())
    assert report.findings == []


async def test_export_from_before_holds_when_a_thread_came_back_and_went_again(desk: Desk) -> None:
    """The messages as they were sent don't come back: the second time it has fewer entries."""
    earlier = list(read_paper((await exported(desk.store)).splitlines(), seal))
    [outcome] = await desk.archived()
    await desk.brought_back(outcome)

    [again] = await desk.archived()

    assert again.file
    assert await compare(earlier, marks_of(desk.store, seal), seal) == []
    assert (await verify_store(desk.store, seal, now=World().now())).findings == []


async def test_thread_whose_seal_does_not_fit_stays_and_is_named(desk: Desk) -> None:
    """What somebody has changed is evidence, where it is."""
    await desk.store.audit().begin(await desk.log(), b"0" * 32)

    [outcome] = await desk.archived()

    assert (outcome.thread, outcome.file) == (desk.thread, "")
    assert "not those that were sealed" in outcome.why
    assert await desk.store.thread(desk.thread) is not None
    assert list(desk.folder.iterdir()) == []


async def test_thread_that_has_moved_on_since_it_was_read_is_not_purged(desk: Desk) -> None:
    """What came later would be in no file."""
    read = await desk.log()
    await desk.store.commit(saying(desk.thread, "one more thing", now=read.updated_at))

    assert not await desk.purging.purge_read(read, by="otto")
    assert (await desk.log()).seq == read.seq + 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-9],
        lambda _: b"hello",
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda _: gzip.compress(b'{"archive":2,"thread":"t"}\n'),
        lambda _: gzip.compress(b"[]\n"),
    ],
    ids=["cut off", "no archive", "a bit flipped", "of newer code", "another shape"],
)
async def test_spoiled_file_is_told_and_nothing_is_made_of_it(desk: Desk, spoil: object) -> None:
    """By the file's name, and the line where there is one."""
    path = write_archive(desk.folder, [await desk.log()])
    assert callable(spoil)
    path.write_bytes(spoil(path.read_bytes()))

    with pytest.raises(SpoiledArchive, match=path.name):
        list(read_archive(path))


async def test_change_within_a_file_breaks_the_seal(desk: Desk) -> None:
    """Who can write to the folder has not got the key."""
    log = await desk.log()
    forged = [event._replace(body=event.body.replace(b"otto", b"ozzy")) for event in log.events]
    path = write_archive(desk.folder, [replace(log, events=forged)])

    [read] = read_archive(path)

    assert "not those that were sealed" in fault(seal, read)
