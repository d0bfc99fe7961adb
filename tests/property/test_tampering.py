"""Whatever somebody with the database, and without the key, does to what was written, it is found.

On SQLite by SQL, on PostgreSQL by a sample of the same, and for the values themselves byte by byte.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_core.thread.events import Millis
from gateway.audit.beginning import begin
from gateway.audit.verification import Report, verify_store
from storage.errors import StoreError
from storage.memory import MemoryStore
from storage.postgres import PostgresStore
from storage.sealed import SealedLog
from storage.seals import fault
from storage.sqlite import SqliteStore
from storage.store import Store
from tests.contract.stores.rows import T1, committed, delivery, launched, saying
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.seals import seal

NOW = Millis(1_800_000_000_000)
THREADS = ("t1", "t2", "t3")


async def write_story(store: Store) -> None:
    """Write three threads with a few events and deliveries each."""
    await begin(store, seal, now=NOW)
    for thread in THREADS:
        await launched(store, thread)
        said = replace(saying(thread, "ja", "größer"), deliveries=[delivery(f"{thread}.d1")])
        await committed(store, said)
        late = delivery(f"{thread}.d2", "email:otto@example.com")
        await committed(store, replace(saying(thread), deliveries=[late]))
        await committed(store, saying(thread, "nein"))


async def told(store: Store) -> Report:
    """Verify a store."""
    await store.open()
    try:
        return await verify_store(store, seal, now=NOW)
    finally:
        await store.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with the story in it."""
    path = tmp_path_factory.mktemp("story") / "parley.db"

    async def write() -> None:
        store = SqliteStore(path, seal=seal)
        await store.open()
        await write_story(store)
        await store.close()

    asyncio.run(write())
    return path


def is_found(original: Path, tamper: Callable[[sqlite3.Connection], object]) -> bool:
    """Do something to a copy of the file, and tell whether the audit finds it."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(original, copy)
        with closing(sqlite3.connect(copy)) as connection, connection:
            tamper(connection)
        try:
            return bool(asyncio.run(told(SqliteStore(copy, shared=True))).findings)
        except StoreError:  # what is no text any more can't even be read
            return True


def flipped(body: bytes, place: int, flip: int) -> bytes:
    """Change one byte."""
    changed = bytearray(body)
    changed[place % len(body)] ^= flip
    return bytes(changed)


CELLS = {
    "SELECT thread, seq, CAST(thread AS BLOB) FROM events": (
        "UPDATE events SET thread = CAST(?1 AS TEXT) WHERE thread = ?2 AND seq = ?3"
    ),
    "SELECT thread, seq, CAST(body AS BLOB) FROM events": (
        "UPDATE events SET body = CAST(?1 AS TEXT) WHERE thread = ?2 AND seq = ?3"
    ),
    "SELECT thread, n, CAST(thread AS BLOB) FROM deliveries": (
        "UPDATE deliveries SET thread = CAST(?1 AS TEXT) WHERE thread = ?2 AND n = ?3"
    ),
    "SELECT thread, n, CAST(id AS BLOB) FROM deliveries": (
        "UPDATE deliveries SET id = CAST(?1 AS TEXT) WHERE thread = ?2 AND n = ?3"
    ),
    "SELECT thread, n, CAST(address AS BLOB) FROM deliveries": (
        "UPDATE deliveries SET address = CAST(?1 AS TEXT) WHERE thread = ?2 AND n = ?3"
    ),
    "SELECT thread, n, CAST(body AS BLOB) FROM deliveries": (
        "UPDATE deliveries SET body = CAST(?1 AS TEXT) WHERE thread = ?2 AND n = ?3"
    ),
    "SELECT id, 0, CAST(id AS BLOB) FROM threads": (
        "UPDATE threads SET id = CAST(?1 AS TEXT) WHERE id = ?2 AND ?3 = 0"
    ),
    "SELECT id, 0, chain FROM threads": ("UPDATE threads SET chain = ?1 WHERE id = ?2 AND ?3 = 0"),
}


@given(st.sampled_from(sorted(CELLS)), st.integers(0, 30), st.integers(0, 999), st.integers(1, 255))
@settings(max_examples=40)
def test_any_byte_of_any_row_on_sqlite(
    original: Path, cells: str, row: int, place: int, flip: int
) -> None:
    """Of events, deliveries and the chain itself."""

    def tamper(db: sqlite3.Connection) -> None:
        rows = sorted(db.execute(cells).fetchall())
        thread, key, value = rows[row % len(rows)]
        new = flipped(value, place, flip)
        try:
            assert db.execute(CELLS[cells], (new, thread, key)).rowcount == 1
        except sqlite3.IntegrityError:  # the row of another thread: SQLite itself won't have it
            reject()

    assert is_found(original, tamper)


STATEMENTS = [
    "DELETE FROM events WHERE thread = 't2' AND seq = 1",
    "DELETE FROM events WHERE thread = 't2' AND seq = 4",
    "DELETE FROM events WHERE thread = 't2'",
    "DELETE FROM threads WHERE id = 't2'",
    "DELETE FROM deliveries WHERE thread = 't2'",
    "DELETE FROM deliveries WHERE id = 't2.d2'",
    "DELETE FROM kept WHERE owner = 'audit'",
    "INSERT INTO events SELECT thread, 5, body FROM events WHERE thread = 't2' AND seq = 2",
    "UPDATE threads SET seq = 3 WHERE id = 't2'",
    "UPDATE threads SET chain = NULL WHERE id = 't2'",
    "UPDATE threads SET chain = (SELECT chain FROM threads WHERE id = 't1') WHERE id = 't2'",
    "UPDATE events SET body = replace(body, 't2', 't1') WHERE thread = 't2' AND seq = 1",
    "UPDATE deliveries SET seq = 2 WHERE id = 't2.d1'",
    "UPDATE deliveries SET seq = 4 WHERE id = 't2.d2'",
    "UPDATE deliveries SET seq = 9 WHERE id = 't2.d2'",
    "UPDATE deliveries SET question = 'q' WHERE id = 't2.d2'",
    "UPDATE events SET seq = seq - 5 WHERE thread = 't2' AND seq IN (2, 3)",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_removed_added_swapped_and_renumbered_rows_on_sqlite(
    original: Path, statement: str
) -> None:
    """Rows are as they were written, in their order, and none is missing or new."""

    def tamper(db: sqlite3.Connection) -> None:
        assert db.execute(statement).rowcount > 0
        db.execute("UPDATE events SET seq = -seq WHERE seq < 0")

    assert is_found(original, tamper)


def test_nothing_is_found_where_nothing_was_done(original: Path) -> None:
    """What becomes of a delivery, and what lists show, may change."""

    def use(db: sqlite3.Connection) -> None:
        db.execute("UPDATE deliveries SET status = 'sent', receipt = '{}', error = 'x', due_at = 1")
        db.execute("UPDATE threads SET status = 'failed', summary = '{}', epoch = 9, wake_at = 3")

    assert not is_found(original, use)


def test_last_event_and_all_that_names_it_can_not_be_taken_away(original: Path) -> None:
    """Not even with the row adjusted: the chain of the shorter log nobody can work out."""

    def shorten(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM events WHERE thread = 't2' AND seq = 4")
        db.execute("UPDATE threads SET seq = 3 WHERE id = 't2'")

    assert is_found(original, shorten)


@pytest.mark.parametrize("statement", [*STATEMENTS[:6], *STATEMENTS[8:16]])
async def test_sample_of_the_same_on_postgres(statement: str) -> None:
    """The same rows, the same findings."""
    async with postgres_url(upgraded) as url:
        store = PostgresStore(url, seal=seal)
        await store.open()
        await write_story(store)
        await store.close()
        assert (await told(PostgresStore(url))).findings == []

        connection = await asyncpg.connect(url)
        await connection.execute(statement)
        await connection.close()

        assert (await told(PostgresStore(url))).findings


async def log_of_story() -> SealedLog:
    """Give one thread of the story."""
    store = MemoryStore(seal=seal)
    await store.open()
    await write_story(store)
    log = await store.audit().log(T1)
    assert log is not None
    return log


async def test_every_bit_of_every_event_counts() -> None:
    """Not a sample: all of them."""
    log = await log_of_story()
    assert fault(seal, log) == ""

    for number, event in enumerate(log.events):
        for bit in range(len(event.body) * 8):
            events = list(log.events)
            events[number] = event._replace(body=flipped(event.body, bit // 8, 1 << bit % 8))
            assert fault(seal, replace(log, events=events)), (event, bit)
