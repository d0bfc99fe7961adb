"""The schema: made by migrations, equal to the tables, and to the script for new files."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from msgspec.structs import replace
from sqlalchemy import Connection

from agent_core.thread.events import MessageReceived
from agent_core.thread.questions import QuestionId
from storage.errors import (
    BadStoreUrl,
    SchemaTooNew,
    SchemaTooOld,
    StoreError,
    StoreInUse,
    StoreUnreachable,
)
from storage.migrations import upgrades
from storage.migrations.connections import run_on
from storage.migrations.dump import schema_sqlite
from storage.migrations.versions import HEAD, REVISIONS, check_version
from storage.sqlite import SqliteStore
from storage.sqlite.opening import SCHEMA
from storage.tables import tables
from storage.values import Claim, InboxRecord, Wish
from tests.contract.stores.rows import NOW, T1, committed, launched, saying


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Name a file that is not there yet."""
    return f"sqlite:///{tmp_path}/parley.db"


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """Make a file of the oldest version that there can be: before the first revision."""
    with closing(sqlite3.connect(tmp_path / "older.db")) as raw, raw:
        raw.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    return tmp_path / "older.db"


def schema(path: Path) -> list[tuple[str, str]]:
    """Give every table and index of a file, in one spelling."""
    with closing(sqlite3.connect(path)) as raw:
        rows = raw.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return sorted((name, "".join(sql.split())) for name, sql in rows)


def make_declared(connection: Connection) -> None:
    """Make the tables as they are declared, without a migration."""
    tables().create_all(connection)
    connection.commit()


def test_migrated_schema_is_that_of_the_tables(url: str) -> None:
    """What SQLModel declares and what the migrations make are the same."""
    upgrades.upgrade(url)

    def differences(connection: Connection) -> object:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return compare_metadata(context, tables())

    assert run_on(url, differences) == []


def test_partial_indexes_are_those_of_the_tables(url: str, tmp_path: Path) -> None:
    """Alembic doesn't compare the conditions of indexes, so we do."""
    upgrades.upgrade(url)
    run_on(f"sqlite:///{tmp_path}/declared.db", make_declared)

    declared = dict(schema(tmp_path / "declared.db"))
    migrated = dict(schema(tmp_path / "parley.db"))

    del migrated["alembic_version"]
    assert declared == migrated


def test_script_for_new_files_is_what_the_migrations_make() -> None:
    """`python -m storage.migrations.dump > storage/schema_sqlite.sql` after a new revision."""
    assert schema_sqlite() == SCHEMA.read_text()


async def test_new_file_is_as_if_it_had_been_migrated(url: str, tmp_path: Path) -> None:
    """Both ways lead to the same tables and the same version."""
    store = SqliteStore(tmp_path / "new.db")
    await store.open()
    await store.close()
    await asyncio.to_thread(upgrades.upgrade, url)

    assert schema(tmp_path / "parley.db") == schema(tmp_path / "new.db")
    assert upgrades.current(f"sqlite:///{tmp_path}/new.db") == HEAD


def test_revisions_are_listed_in_their_order() -> None:
    """The list that stores check against is the chain that Alembic follows."""
    scripts = ScriptDirectory(str(Path(upgrades.__file__).parent))

    chain = [script.revision for script in scripts.walk_revisions()]

    assert list(reversed(chain)) == list(REVISIONS)


def test_upgrade_takes_a_database_to_the_newest_version_once(url: str) -> None:
    """Doing it again changes nothing."""
    assert upgrades.current(url) is None
    with pytest.raises(SchemaTooOld, match="parley db upgrade"):
        upgrades.check(url)

    upgrades.upgrade(url)
    upgrades.upgrade(url)

    assert upgrades.current(url) == HEAD
    upgrades.check(url)


@pytest.mark.parametrize("version", REVISIONS[:-1])
async def test_file_of_each_older_version_is_upgraded_at_start_with_what_it_holds(
    url: str, tmp_path: Path, version: str
) -> None:
    """Nobody has to do anything, and no thread is lost; what is new works with the old."""
    await asyncio.to_thread(upgrades.upgrade, url, version)
    with closing(sqlite3.connect(tmp_path / "parley.db")) as raw, raw:
        raw.execute(_OLD_THREAD)
    assert upgrades.current(url) == version

    store = SqliteStore(tmp_path / "parley.db")
    await store.open()
    try:
        await committed(store, replace(saying("t1", "hello"), places=["slack:T1:C1:1"]))
        await store.keep("slack", "token", b"1", now=NOW)

        assert await store.thread_at("slack:T1:C1:1") == "t1"
        assert [row.id for row in (await store.threads(Wish(requester="otto"))).items] == ["t1"]
        assert await store.kept("slack", now=NOW) == ["token"]
    finally:
        await store.close()
    assert upgrades.current(url) == HEAD


_OLD_THREAD = """
INSERT INTO threads (
    id, agent, status, origin, requester, thread_key, seq, handled_seq, wake_at, lease_until, epoch,
    summary, created_at, updated_at
) VALUES ('t1', 'a', 'waiting', '', 'otto', '', 0, 0, NULL, NULL, 0, '{}', 1, 1)
"""


async def test_people_find_the_threads_from_before_there_was_an_index(
    url: str, tmp_path: Path
) -> None:
    """Those that they began in a channel, and those in which they were asked."""
    await asyncio.to_thread(upgrades.upgrade, url, "0005")
    with closing(sqlite3.connect(tmp_path / "parley.db")) as raw, raw:
        raw.execute(_OLD_THREAD.replace("'otto'", "'slack:T1:U2'"))
        raw.execute(_OLD_THREAD.replace("'t1'", "'t2'"))
        raw.execute(_OLD_QUESTION)

    store = SqliteStore(tmp_path / "parley.db")
    await store.open()
    try:
        began = await store.threads(Wish(parties=["slack:t1:u2"]))
        asked = await store.threads(Wish(parties=["approver"]))
        queue = await store.questions(Wish(parties=["approver"], status="open"))
    finally:
        await store.close()

    assert [row.id for row in began.items] == ["t1"]
    assert [row.id for row in asked.items] == ["t2"]
    assert [row.id for row in queue.items] == ["q1"]


_OLD_QUESTION = """
INSERT INTO questions (id, thread, status, asked_at, expires_at, body)
VALUES ('q1', 't2', 'open', 1, NULL, '{"audience":["Approver","anna","anna"]}')
"""


def test_newer_schema_is_neither_used_nor_upgraded(url: str, tmp_path: Path) -> None:
    """The message says what to do."""
    upgrades.upgrade(url)
    with closing(sqlite3.connect(tmp_path / "parley.db")) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaTooNew, match="newer code has been here"):
        upgrades.check(url)
    with pytest.raises(SchemaTooNew):
        upgrades.upgrade(url)


def test_older_version_is_told_apart_from_none_and_newer() -> None:
    """Three answers: fits, upgrade, don't touch."""
    check_version(HEAD)
    with pytest.raises(SchemaTooOld):
        check_version(None)
    with pytest.raises(SchemaTooNew):
        check_version("")


def test_what_can_not_be_migrated_is_told_in_words(tmp_path: Path) -> None:
    """No file, no server, nothing that lasts."""
    (tmp_path / "diary.db").write_text("Dear diary " * 1000)
    with pytest.raises(StoreError, match="not a database"):
        upgrades.upgrade(f"sqlite:///{tmp_path}/diary.db")
    with pytest.raises(StoreUnreachable):
        upgrades.upgrade(f"postgresql:///nowhere?host={tmp_path}")
    with pytest.raises(BadStoreUrl):
        upgrades.upgrade("memory:")


async def test_older_file_is_migrated_when_it_is_opened(older: Path) -> None:
    """There is nothing to do for the user."""
    store = SqliteStore(older)
    await store.open()

    await launched(store)
    await store.close()
    assert upgrades.current(f"sqlite:///{older}") == HEAD


_FIRST_ROWS = """
INSERT INTO threads VALUES
    ('t1', 'support', 'waiting', 'web:1', 'otto', 'k', 2, 2, 7, NULL, 3, '{"a":1}', 5, 6);
INSERT INTO events VALUES ('t1', 1, '{"type":"MessageReceived","text":"one","at":5}'),
    ('t1', 2, '{"type":"MessageReceived","text":"two","at":6}');
INSERT INTO questions VALUES ('q1', 't1', 'open', 5, NULL, '{"prompt":"May I?"}');
INSERT INTO inbox VALUES ('web', 'k1', 'd', 't1', 1, NULL);
INSERT INTO deliveries VALUES
    (8, 'd8', 't1', 1, 'web:1', '{"b":1}', 'q1', 'sent', NULL, NULL, 1, 1, '{"r":1}', ''),
    (9, 'd9', 't1', 2, 'web:1', '{"b":2}', NULL, 'pending', 5, NULL, 0, 0, NULL, '');
"""


async def test_file_of_the_first_version_keeps_what_it_holds(url: str, tmp_path: Path) -> None:
    """Every table that is made anew has its rows again, and the store reads and goes on."""
    await asyncio.to_thread(upgrades.upgrade, url, "0001")
    with closing(sqlite3.connect(tmp_path / "parley.db")) as raw:
        raw.executescript(_FIRST_ROWS)

    store = SqliteStore(tmp_path / "parley.db")
    await store.open()
    loaded = await store.load(T1)
    question = await store.question(QuestionId("q1"))
    record = await store.inbox("web", "k1")
    sent, pending = await store.deliveries(T1)
    assert await committed(store, saying("t1", "three")) == 3
    [claim] = await store.claim(now=NOW, lease_ms=1, limit=9)
    log = await store.events(T1, after=1)
    await store.close()

    assert loaded is not None
    row = loaded.row
    assert (row.thread_key, row.summary, row.epoch, row.wake_at) == ("k", {"a": 1}, 3, 7)
    assert question is not None
    assert (question.status, question.body) == ("open", {"prompt": "May I?"})
    assert InboxRecord(T1, 1, "d") == record
    assert (sent.id, sent.receipt, sent.body) == ("d8", {"r": 1}, {"b": 1})
    assert (pending.id, pending.address, pending.due_at) == ("d9", "web:1", 5)
    assert Claim(T1, 4, 3) == claim
    assert [e.text for e in log if isinstance(e, MessageReceived)] == ["two", "three"]


async def test_command_does_not_migrate_under_a_running_server(older: Path) -> None:
    """Older code may be at work there; without a server the command migrates."""
    server = SqliteStore(older)
    server._db.file._lock.take()
    with pytest.raises(StoreInUse):
        await SqliteStore(older, shared=True).open()
    server._db.file._lock.give_back()

    beside = SqliteStore(older, shared=True)
    await beside.open()
    await launched(beside)
    await beside.close()
