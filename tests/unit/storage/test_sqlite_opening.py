"""Opening a SQLite file: one server, and a clear word for whatever stands in the way."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.thread.events import Millis, ThreadId
from storage.errors import (
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreInUse,
    Unreadable,
)
from storage.sqlite import SqliteStore
from storage.sqlite.batches import Fleeting
from storage.values import ApiKey, KeyId
from tests.contract.stores.rows import NOW, T1, claimed, committed, launched, launching, saying

KEY = ApiKey(id=KeyId("k1"), name="ci", hash="h1", scopes=("read",), created_at=Millis(1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a file that is not there yet."""
    return tmp_path / "with a space & ü?#%41.db"


def read(path: Path) -> bytes:
    """Give what a file holds."""
    return path.read_bytes()


def write(path: Path, content: bytes) -> None:
    """Put something else into a file."""
    path.write_bytes(content)


async def opened(path: Path, *, shared: bool = False) -> SqliteStore:
    """Open a store."""
    store = SqliteStore(path, shared=shared)
    await store.open()
    return store


async def made(path: Path) -> None:
    """Make a file with a thread in it."""
    store = await opened(path)
    await launched(store)
    await store.close()


async def test_file_is_in_wal_mode_and_whole_after_closing(path: Path) -> None:
    """Closing folds the write-ahead log into the file, so that a copy of it is a backup."""
    await made(path)

    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    left = {each.name.removeprefix(path.name) for each in path.parent.iterdir()}
    assert left == {"", "-lock"}


async def test_what_is_acknowledged_is_synchronised_and_leases_are_not(path: Path) -> None:
    """FULL for a commit, also in a batch with leases and after one; NORMAL for leases alone."""
    store = await opened(path)
    assert store._db._writer is not None
    do = store._db._writer.do

    lease = Fleeting(_level)
    levels = [await do(_level), await do(lease), await do(_level)]
    together = await asyncio.gather(do(_level), *(do(lease) for _ in range(9)))
    await store.close()

    assert levels == [2, 1, 2]
    assert together[0] == 2


def _level(db: sqlite3.Connection) -> int:
    [level] = db.execute("PRAGMA synchronous").fetchone()
    return int(level)


async def test_second_server_on_one_file_is_refused_by_name(path: Path) -> None:
    """It says which process has the file, and the first goes on."""
    first = await opened(path)

    with pytest.raises(StoreInUse, match=f"process {os.getpid()}.*PostgreSQL"):
        await opened(path)

    await launched(first)
    await first.close()
    await (await opened(path)).close()


async def test_symbolic_link_is_no_way_around_the_lock(path: Path) -> None:
    """The lock belongs to the file itself."""
    first = await opened(path)
    link = path.with_name("link.db")
    link.symlink_to(path)

    with pytest.raises(StoreInUse):
        await opened(link)

    await first.close()


async def test_command_works_beside_a_server_and_before_there_is_one(path: Path) -> None:
    """`parley keys create` makes the file if need be, and the server sees the key at once."""
    command = await opened(path, shared=True)
    await command.add_key(KEY)
    await command.close()

    server = await opened(path)
    assert await server.key_by_hash("h1") == KEY
    second = await opened(path, shared=True)
    await second.revoke_key(KEY.id, now=Millis(2))
    await second.close()

    assert await server.key_by_hash("h1") is None
    await server.close()


async def test_file_that_another_program_locks_is_busy(path: Path) -> None:
    """Try again later: the error says when, and nothing is lost."""
    store = await opened(path)
    assert store._db._writer is not None
    await store._db._writer.do(lambda db: db.execute("PRAGMA busy_timeout=50"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="locked") as caught:
            await store.commit(launching())
        assert caught.value.retry_after > 0
        many = [store.commit(launching(f"t{n}")) for n in range(20)]
        async with asyncio.timeout(5):  # one wait for all that came together
            results = await asyncio.gather(*many, return_exceptions=True)
        assert all(isinstance(result, StoreBusy) for result in results)
        other.execute("ROLLBACK")

    assert await committed(store, launching()) == 1
    await store.close()


async def test_newer_schema_is_refused(path: Path) -> None:
    """Code that doesn't know the tables does not touch them."""
    await made(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaTooNew, match=r"9999.*newer code"):
        await opened(path)
    with pytest.raises(SchemaTooNew):
        await opened(path, shared=True)


@pytest.mark.parametrize("content", [b"Dear diary, this is not a database. " * 300, b"x" * 50])
async def test_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    """It is somebody's file."""
    write(path, content)

    with pytest.raises(Unreadable, match="not a SQLite database"):
        await opened(path)

    assert content == read(path)


async def test_database_of_another_program_is_left_alone(path: Path) -> None:
    """Tables that are not ours are not added to."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE recipes (name)")
    before = read(path)

    with pytest.raises(Unreadable, match="another program"):
        await opened(path)

    assert before == read(path)


async def test_damaged_file_is_told_in_words(path: Path) -> None:
    """Wherever the damage is found: at opening, or at the first read of a broken page."""
    store = await opened(path)
    await launched(store)
    await committed(store, saying("t1", *(f"{n}: " + "x" * 500 for n in range(500))))
    await store.close()
    whole = read(path)
    write(path, whole[:12288] + bytes(range(256)) * 900 + whole[12288 + 256 * 900 :])

    with pytest.raises(Unreadable, match="damaged"):
        await _open_and_read(path)


async def _open_and_read(path: Path) -> None:
    store = await opened(path)
    try:
        await store.load(T1)
    finally:
        await store.close()


async def test_place_where_no_file_can_be_is_told_in_words(tmp_path: Path) -> None:
    """A folder that is missing, a folder in place of a file, a file in place of a folder."""
    with pytest.raises(StoreError, match="there is no folder"):
        await opened(tmp_path / "missing" / "parley.db")
    with pytest.raises(StoreError, match="there is no folder"):
        await opened(tmp_path / "missing" / "parley.db", shared=True)
    with pytest.raises(StoreError, match="is a folder"):
        await opened(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        await opened(tmp_path / "file" / "parley.db")


async def test_failed_opening_leaves_nothing_locked(path: Path) -> None:
    """After the trouble is gone, the same process can open the file."""
    write(path, b"not a database, but long enough to have been one " * 50)
    with pytest.raises(Unreadable):
        await opened(path)
    write(path, b"")

    await (await opened(path)).close()


async def test_store_that_was_not_opened_says_so(path: Path) -> None:
    """And closing it is no error."""
    store = SqliteStore(path)

    with pytest.raises(StoreError, match="never opened"):
        await store.commit(launching())
    with pytest.raises(StoreError, match="never opened"):
        await store.thread(ThreadId("t1"))
    await store.close()


async def test_lease_of_a_process_that_died_is_free_at_the_next_start(path: Path) -> None:
    """The file's lock says that nobody else is there: nobody waits for a dead one's lease."""
    store = await opened(path)
    await launched(store, wake_at=NOW)
    before = await claimed(store)
    await store.close()  # as after a kill: nothing was released

    again = await opened(path)
    after = await claimed(again)
    await again.close()

    assert (after.thread, after.epoch) == (before.thread, before.epoch + 1)
