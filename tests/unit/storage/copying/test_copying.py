"""From a file into a database: all of it, whatever came in between, and never half of it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.copying.copying import Copying
from storage.copying.source import alone
from storage.copying.target import Target, opened
from storage.errors import HalfCopied, StoreError, StoreMoved
from storage.migrations.upgrades import upgrade
from storage.migrations.versions import SERVES
from storage.postgres import PostgresStore
from storage.sqlite import SqliteStore
from tests.doubles.postgres import postgres_url
from tests.unit.storage.copying.installations import (
    NOW,
    ROWS,
    copied,
    in_database,
    in_file,
    make_file,
    same_rows,
    written,
)


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Give a file with rows in every table."""
    path = tmp_path / "parley.db"
    await make_file(path)
    return path


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Give a database without any tables."""
    async with postgres_url() as new:
        yield new


async def test_every_row_of_every_table_is_taken_along(file: Path, url: str) -> None:
    """Every table that is declared, also one that is added tomorrow; leases are nobody's."""
    done = await copied(file, url)

    assert {table.table: table.rows for table in done}["events"] == 2 * ROWS - 1
    assert all(table.rows == ROWS for table in done if table.table != "events")
    assert [table.table for table in done if table.rows != table.written] == []
    await same_rows(file, url)
    assert await in_database(url, "SELECT 1 FROM threads WHERE lease_until IS NOT NULL") == []


async def test_what_a_database_says_of_itself_is_neither_copied_nor_lost(
    file: Path, url: str
) -> None:
    """Which older code may work on its tables; the mark of the file stays with the file."""
    in_file(file, "INSERT INTO settings VALUES ('schema serves', 'nobody')")

    await copied(file, url)

    told = dict(await in_database(url, "SELECT name, value FROM settings"))
    assert told["schema serves"] == SERVES
    assert "moved" not in told


async def test_numbers_that_the_database_counts_go_on_after_the_last_one(
    file: Path, url: str
) -> None:
    """The order of deliveries is that of their numbers."""
    await copied(file, url)

    insert = """
    INSERT INTO deliveries (id, thread, seq, address, body, status, epoch, attempts, error)
    VALUES ('new', 't', 1, 'a', '{}', 'sent', 0, 0, '') RETURNING n
    """
    assert await in_database(url, insert) == [(ROWS + 1,)]


async def test_copy_goes_on_after_kills_at_any_moment(tmp_path: Path, url: str) -> None:
    """What was written before the kill stays, and is not written again."""
    path = tmp_path / "parley.db"
    await make_file(path, rows=30)  # three transactions for each table
    for moment in (2, 14):
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _KILLED, str(path), url, str(moment)
        )
        assert await child.wait() == -signal.SIGKILL
        with pytest.raises(HalfCopied, match="parley db copy"):
            await PostgresStore(url).open()
        assert in_file(path, "SELECT 1 FROM settings WHERE name = 'moved'") == []

    done = await copied(path, url)

    [deliveries] = [table for table in done if table.table == "deliveries"]
    [threads] = [table for table in done if table.table == "threads"]
    assert (deliveries.written, threads.written) == (0, threads.rows)
    await same_rows(path, url)


_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from storage.copying.copying import Copying
from storage.copying.source import alone
from storage.copying.target import opened

told = 0

def tell(table, done, rows):
    global told
    told += 1
    if told == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

async def run():
    with alone(Path(sys.argv[1])) as source:
        async with opened(sys.argv[2]) as target:
            await Copying(source, target, tell, at_once=10).to_end(now=1)

asyncio.run(run())
"""


class Cut(Target):
    """A target whose connection is lost when it should be opened to servers."""

    async def open_up(self, token: str) -> None:  # noqa: ARG002 (it never gets there)
        """Fail before anything is done."""
        raise ConnectionResetError


async def test_killed_between_the_two_sides_neither_can_be_used_until_it_is_run_again(
    file: Path, url: str
) -> None:
    """So no thread ever runs on both; and the second time there is nothing left to write."""
    with alone(file) as source:
        async with opened(url) as target:
            target.__class__ = Cut
            with pytest.raises(ConnectionResetError):
                await Copying(source, target, lambda *_: None).to_end(now=NOW)
    with pytest.raises(HalfCopied):
        await PostgresStore(url).open()
    with pytest.raises(StoreMoved):
        await SqliteStore(file).open()

    assert written(await copied(file, url)) == {}
    store = PostgresStore(url)
    await store.open()
    await store.close()


async def test_what_changes_while_it_is_copied_ahead_is_all_that_is_left(
    file: Path, url: str
) -> None:
    """New rows, changed ones and those that are gone; a thread's events are one piece."""
    for table in ("threads", "deliveries"):
        in_file(file, f"UPDATE {table} SET lease_until = NULL")  # noqa: S608 - our own tables
    await copied(file, url, ahead=True)
    in_file(file, "INSERT INTO events VALUES ('thread 1 é🦊', 99, '{}')")
    in_file(file, "UPDATE threads SET status = 'failed' WHERE seq = 3")
    in_file(file, "DELETE FROM kept WHERE key = 'key 5 é🦊'")

    done = await copied(file, url)

    assert written(done) == {"events": ROWS + 1, "threads": 1}
    await same_rows(file, url)


async def test_what_is_unique_may_have_passed_from_one_row_to_another(file: Path, url: str) -> None:
    """A thread's key, after somebody was erased from it: the rows lie in other transactions."""
    in_file(file, "UPDATE threads SET agent = 'a'")
    await copied(file, url, ahead=True)
    in_file(file, "UPDATE threads SET thread_key = 'erased' WHERE seq = 9")
    in_file(file, "UPDATE threads SET thread_key = 'thread_key 9 é🦊' WHERE seq = 1")

    with alone(file) as source:
        async with opened(url) as target:
            await Copying(source, target, lambda *_: None, at_once=1).to_end(now=NOW)

    await same_rows(file, url)


async def test_killed_while_the_tables_were_made_the_same_command_makes_the_rest(
    file: Path, url: str
) -> None:
    """Nothing is in them yet, so nobody's installation is upgraded by surprise."""
    await asyncio.to_thread(upgrade, url, "0003")

    await copied(file, url)

    await same_rows(file, url)


CHANGES = {
    "a byte more": "UPDATE events SET body = body || ' ' WHERE seq = 7",
    "another place": "UPDATE events SET seq = 77 WHERE seq = 7",
    "a value gone": "UPDATE deliveries SET receipt = NULL WHERE n = 4",
    "a null that became empty": "UPDATE deliveries SET receipt = '' WHERE n = 3",
    "a byte of bytes": "UPDATE threads SET chain = chain || '\\x00' WHERE seq = 2",
    "a row gone": "DELETE FROM places WHERE since = 2",
    "a row more": "INSERT INTO places VALUES ('another', 't', 1)",
    "the same signs, cut elsewhere": "UPDATE kept SET owner = owner || key, key = '' "
    "WHERE expires_at = 2",
}


async def test_digest_finds_any_change_and_it_is_put_right(file: Path, url: str) -> None:
    """One value, one row more or less, one byte; also where the sum of the signs is the same."""
    await copied(file, url, ahead=True)
    for name, change in CHANGES.items():
        await in_database(url, change)

        done = await copied(file, url, ahead=True)

        assert name == "a row more" or written(done), name
        await same_rows(file, url)


async def test_table_that_never_becomes_the_same_is_told_and_nothing_changes_sides(
    file: Path, url: str
) -> None:
    """Somebody's trigger, say: the source stays in use."""
    await copied(file, url, ahead=True)
    await in_database(url, _MEDDLING)
    await in_database(
        url, "CREATE TRIGGER it BEFORE INSERT ON places FOR EACH ROW EXECUTE FUNCTION meddle()"
    )
    in_file(file, "UPDATE places SET since = 99 WHERE since = 2")

    with pytest.raises(StoreError, match="places is not the same on both sides"):
        await copied(file, url)

    store = SqliteStore(file)
    await store.open()
    await store.close()


_MEDDLING = """
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.since := 1; RETURN NEW; END $$
"""
