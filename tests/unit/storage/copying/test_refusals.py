"""What may not be copied, said before anything is written, with what to do about it."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from storage.copying.copying import Copying
from storage.copying.source import alone, reopen
from storage.copying.target import opened, public_name
from storage.errors import (
    SchemaTooNew,
    SchemaTooOld,
    StoreError,
    StoreInUse,
    StoreMoved,
    StoreUnreachable,
)
from storage.migrations.upgrades import upgrade
from storage.migrations.versions import HEAD
from storage.postgres import PostgresStore
from storage.sqlite import SqliteStore
from storage.sqlite.moving import Moved
from tests.doubles.postgres import postgres_url, upgraded
from tests.unit.storage.copying.installations import (
    NOW,
    connected,
    copied,
    in_database,
    in_file,
    make_file,
)


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Give a file with a row or two in every table."""
    path = tmp_path / "parley.db"
    await make_file(path, rows=2)
    return path


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """Give a database with empty tables; what marks a test leaves is taken away."""
    async with postgres_url(upgraded) as clean:
        yield clean
        await in_database(clean, f"UPDATE alembic_version SET version_num = '{HEAD}'")  # noqa: S608


async def version_of(url: str) -> object:
    """Tell which version a database says it has."""
    [(version,)] = await in_database(url, "SELECT version_num FROM alembic_version")
    return version


async def test_source_at_work_is_not_copied_to_the_end_and_says_what_can_be_done(
    file: Path, url: str
) -> None:
    """Its server would go on with threads that run on the other side by then; ahead is no harm."""
    server = SqliteStore(file)
    await server.open()
    try:
        with pytest.raises(StoreInUse, match=r"Stop that server.*--ahead"):
            await copied(file, url)
        assert await version_of(url) == HEAD
        await copied(file, url, ahead=True)
    finally:
        await server.close()

    assert {table.written for table in await copied(file, url)} == {0}


async def test_commands_beside_the_copy_can_write_nothing_into_the_source(
    file: Path, url: str
) -> None:
    """A key that was made after its table was compared would be lost."""
    with closing(sqlite3.connect(file, timeout=0)) as beside:
        assert await _writing_meanwhile(file, url, beside) == "database is locked"


async def _writing_meanwhile(file: Path, url: str, beside: sqlite3.Connection) -> str:
    said = ""

    def write(*_: object) -> None:
        nonlocal said
        try:
            beside.execute("INSERT INTO settings VALUES ('x', 'y')")
        except sqlite3.OperationalError as exc:
            said = str(exc)

    with alone(file) as source:
        async with opened(url) as target:
            await Copying(source, target, write).to_end(now=NOW)
    return said


async def test_server_on_the_target_must_be_stopped_first(file: Path, url: str) -> None:
    """It would begin with threads whose events are not there yet."""
    server = PostgresStore(url)
    await server.open()
    try:
        with pytest.raises(StoreInUse, match="a Parley works on the target"):
            await copied(file, url)
    finally:
        await server.close()

    assert await version_of(url) == HEAD


async def test_target_that_holds_something_is_left_alone(file: Path, url: str) -> None:
    """Two installations can't be joined: the names of their threads could be the same."""
    await in_database(url, "INSERT INTO places VALUES ('a', 't', 1)")

    with pytest.raises(StoreError, match="not empty: there is something in places"):
        await copied(file, url)

    assert await in_database(url, "SELECT address FROM places") == [("a",)]
    assert await version_of(url) == HEAD


async def test_second_copy_at_the_same_time_is_refused(file: Path, url: str) -> None:
    """Each would take the other's rows for wrong ones."""
    async with opened(url) as first:
        await first.begin()
        with pytest.raises(StoreInUse, match="another `parley db copy`"):
            await copied(file, url)


async def test_command_that_was_at_work_writes_nothing_to_a_file_that_has_moved(file: Path) -> None:
    """A key or an erasure would be lost with the file, and whoever asked for it told it is done."""
    command = SqliteStore(file, shared=True)
    await command.open()
    with alone(file) as source:
        writing = asyncio.create_task(command.keep("owner", "late", b"lost", now=NOW))
        source.mark(Moved("postgresql://db/parley", NOW))

    with pytest.raises(StoreMoved, match="has moved to postgresql://db/parley"):
        await writing

    await command.close()
    assert in_file(file, "SELECT 1 FROM kept WHERE key = 'late'") == []


async def test_older_installation_in_the_target_must_be_upgraded_by_hand(file: Path) -> None:
    """There are threads in it: whoever runs it decides."""
    async with postgres_url() as url:
        await asyncio.to_thread(upgrade, url, "0006")
        await in_database(
            url,
            "INSERT INTO threads (id, agent, status, origin, requester, thread_key, seq,"
            " handled_seq, epoch, summary, created_at, updated_at)"
            " VALUES ('t', 'a', 'waiting', '', '', '', 1, 1, 1, '{}', 1, 1)",
        )

        with pytest.raises(SchemaTooOld, match=r"the target: .* 0006.*parley db upgrade"):
            await copied(file, url)

        assert await in_database(url, "SELECT version_num FROM alembic_version") == [("0006",)]


async def test_user_who_may_not_make_tables_is_told_what_the_owner_must_do(file: Path) -> None:
    """Since PostgreSQL 15 that is anybody but the owner of the database."""
    async with postgres_url() as url:
        if "//postgres@" not in url:
            pytest.skip("it takes a server of our own to add a user")
        await in_database(url, "DROP ROLE IF EXISTS weak")
        await in_database(url, "CREATE ROLE weak LOGIN")
        try:
            with pytest.raises(StoreError, match="createdb --owner USER NAME"):
                await copied(file, url.replace("//postgres@", "//weak@"))
        finally:
            await in_database(url, "DROP ROLE weak")


async def test_target_of_newer_code_is_refused(file: Path, url: str) -> None:
    """What its tables mean, we can't know."""
    await in_database(url, "UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaTooNew, match=r"the target: .* 9999"):
        await copied(file, url)


async def test_copy_that_another_version_began_is_for_that_version(file: Path, url: str) -> None:
    """What it has written is in its own tables."""
    await in_database(url, "UPDATE alembic_version SET version_num = 'copying 0001'")

    with pytest.raises(StoreError, match="begun by another version of Parley"):
        await copied(file, url)


async def test_source_of_older_code_must_be_upgraded(file: Path, url: str) -> None:
    """With what made it, or by this code, on purpose."""
    in_file(file, "UPDATE alembic_version SET version_num = '0003'")

    for ahead in (False, True):
        with pytest.raises(SchemaTooOld, match=r"the source .* 0003.*parley db upgrade"):
            await copied(file, url, ahead=ahead)


async def test_source_that_is_not_there_is_not_made(tmp_path: Path, url: str) -> None:
    """SQLite would make an empty file, and an empty installation would be copied."""
    path = tmp_path / "other.db"

    for ahead in (False, True):
        with pytest.raises(StoreError, match="there is no file"):
            await copied(path, url, ahead=ahead)

    assert not path.exists()


async def test_source_that_is_another_programs_is_refused(tmp_path: Path, url: str) -> None:
    """Whatever it is, it is no installation."""
    path = tmp_path / "other.db"
    in_file(path, "CREATE TABLE notes (text)")

    with pytest.raises(StoreError, match="not a database of Parley's"):
        await copied(path, url)


async def test_target_that_does_not_answer_is_told(file: Path) -> None:
    """The same command goes on when it is back."""
    with pytest.raises(StoreUnreachable, match="the target"):
        await copied(file, "postgresql://127.0.0.1:1/parley")


async def test_value_that_postgresql_does_not_take_is_told_with_its_table(
    file: Path, url: str
) -> None:
    """Parley writes no NUL; somebody else may have."""
    in_file(file, "UPDATE places SET thread = CAST(x'6100' AS TEXT) WHERE since = 1")

    with pytest.raises(StoreError, match="places"):
        await copied(file, url)


async def test_copied_source_is_not_served_again_until_it_is_reopened(file: Path, url: str) -> None:
    """Not by a server and not by a command, which both say where it has gone."""
    await copied(file, url)

    for shared in (False, True):
        told = rf"moved to {re.escape(public_name(url))}.*parley db reopen"
        with pytest.raises(StoreMoved, match=told):
            await SqliteStore(file, shared=shared).open()
    gone = reopen(file)
    assert gone is not None
    assert gone.to == public_name(url)
    store = SqliteStore(file)
    await store.open()
    await store.close()


async def test_copying_once_more_finds_nothing_to_do_and_touches_nothing(
    file: Path, url: str
) -> None:
    """The answer may have been lost by a kill, and servers may be at work there."""
    await copied(file, url)
    async with connected(url) as connection:
        await connection.execute("DELETE FROM places")
        await connection.execute("SET application_name = 'parley'")

        assert await copied(file, url) == []

    assert await in_database(url, "SELECT * FROM places") == []


async def test_moved_installation_is_not_copied_to_a_second_place(file: Path, url: str) -> None:
    """It may be at work in the first; also if the other is a new one under the same name."""
    await copied(file, url)

    async with postgres_url() as other:
        with pytest.raises(StoreMoved, match="has moved to"):
            await copied(file, other)
    await in_database(url, "DELETE FROM settings")
    with pytest.raises(StoreMoved, match="has moved to"):
        await copied(file, url)


def test_name_of_a_database_has_no_password() -> None:
    """It is kept in the file and shown."""
    named = public_name("postgresql://otto:secret@db.example.com:5433/parley?sslmode=require")

    assert named == "postgresql://db.example.com:5433/parley"
    assert public_name("postgresql://otto@/p?host=/run/pg") == "postgresql:///p?host=/run/pg"
