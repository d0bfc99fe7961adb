"""How SQLite finds things: every statement of the store, by an index, and without sorting.

A new statement is looked at without being named here, unless a function puts it together; one that
may read everything is named below, with the reason. SQLite chooses its plans without a look at the
rows, so the tables may be empty.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from sqlite3 import Connection

import pytest

from agent_core.thread.events import MessageReceived, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage import sqlite
from storage.retention import Purge, Tombstone
from storage.seals import sealed
from storage.sqlite import SqliteStore, claims, kept, keys, lists, moves, parties
from storage.sqlite.opening import connect
from storage.sqlite.retention import _purge
from storage.tables import tables
from storage.texts import written
from storage.values import Commit
from tests.doubles.seals import seal
from tests.unit.storage.plans.sql_in_code import builders, constants, is_template, literals
from tests.unit.storage.plans.wishes import NOW, RARE_QUESTIONS, RARE_THREADS, WISHES

READ_EVERYTHING = {
    "audit._STRAYS": "an audit looks for what belongs to no thread, which only a look at all shows",
    "claims.forget_all": "once, when a server starts",
    "keys.every": "all keys are listed, and there are a few of them",
    "opening.prepare": "the version, the only row of its table",
    "opening._has_tables": "the names of the tables",
    "opening._make_tables": "the names of the tables",
    "retention._FORGET_PLACE": "a person is erased seldom, and looked for everywhere",
    "retention._FORGET_SOURCES": "a person is erased seldom, and looked for everywhere",
    "retention._FORGET_WORD": "a person is erased seldom, and looked for everywhere",
}
T = ThreadId("t")
SMALL = {
    str(index.name)
    for table in tables().sorted_tables
    for index in table.indexes
    if index.dialect_options["sqlite"]["where"] is not None
}
"""These hold only what waits or failed: to read one to its end is no matter of growth."""


def _moved(db: Connection, **how: object) -> None:
    commit = Commit(thread=T, events=[MessageReceived(at=NOW, text="x")], now=NOW, **how)  # type: ignore[arg-type]
    texts = sealed(seal, commit, written(commit))
    if commit.lease_ms is None:
        moves.move(db, commit, texts)
    else:
        moves.move_and_lease(db, commit, texts, commit.lease_ms)


def _purged(db: Connection) -> None:
    db.execute(
        "INSERT INTO threads "
        "VALUES ('t', '', 'finished', '', '', '', 1, 1, NULL, NULL, 0, '', 1, 1, NULL)"
    )
    stone = Tombstone(thread=T, at=NOW, by="", seq=1, entries=1, chain=None, records=b"", mark=b"")
    assert _purge(db, Purge(tombstone=stone, updated_at=Millis(1), now=NOW)) == []


Job = Callable[[Connection], object]
BUILT: dict[str, list[Job]] = {
    "claims.forget_all": [claims.forget_all],
    "keys.by_hash": [lambda db: keys.by_hash(db, "h")],
    "keys.every": [keys.every],
    "lists.question": [lambda db: lists.question(db, QuestionId("q"))],
    "lists.thread_page": [
        lambda db: [lists.thread_page(db, wish) for wish in WISHES if wish.status != "queued"],
        lambda db: [lists.thread_page(db, wish) for wish in WISHES if wish.now],
    ],
    "lists.question_page": [
        lambda db: [lists.question_page(db, wish) for wish in (*WISHES, *RARE_QUESTIONS)]
    ],
    "moves._statement": [
        _moved,
        lambda db: _moved(db, seen=1, epoch=1, status="waiting", release=True, wake_at=None),
        lambda db: _moved(db, lease_ms=1, summary={}, wake_at=Millis(1)),
    ],
    "retention._purge": [_purged],
    "parties.takes_part": [lambda db: parties.takes_part(db, T, ["p", "q"])],
}
"""What functions put together: asked for it here."""
TEMPLATES: dict[str, list[Job]] = {
    "kept._SWEEP": [lambda db: kept.sweep(db, NOW, 1)],
    "lists._OF_A_PARTY": BUILT["lists.thread_page"],
}


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Connection]:
    """Open a new file."""
    store = SqliteStore(tmp_path / "parley.db")
    await store.open()
    await store.close()
    connection = connect(tmp_path / "parley.db")
    yield connection
    connection.close()


def done_by(db: Connection, job: Job) -> list[str]:
    """Give the statements of a job, with their values."""
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    job(db)
    db.set_trace_callback(None)
    return [each for each in statements if not each.startswith("--")]


def plan_of(db: Connection, sql: str) -> str:
    """Tell how SQLite does a statement, a line for each step; values make no difference."""
    marks = re.findall(r"\?\d*|:[a-z_]+\d*", re.sub(r"'[^']*'", "''", sql))
    named = all(mark.startswith(":") for mark in marks)
    many = max((int(mark[1:]) for mark in marks if mark[1:].isdigit()), default=len(marks))
    values = {mark[1:]: 1 for mark in marks} if named else (1,) * many
    return "\n".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall())


def faults(plan: str) -> list[str]:
    """Name what would take longer, the longer the tables are.

    A list goes along its index until a page is full; that is no scan of the whole. What is found
    by an equality, or waits, may be sorted.
    """
    lines = [line for line in plan.splitlines() if not _SUBQUERY.match(line)]
    scans = [
        line for line in lines if line.startswith("SCAN") and _index(line) not in SMALL | WALKED
    ]
    walks = [line for line in lines if not _EQUAL.search(line) and _index(line) not in SMALL]
    sorts = [line for line in lines if "TEMP B-TREE FOR ORDER BY" in line]
    read = [line for line in walks if line.startswith(("SCAN", "SEARCH"))]
    return scans + (sorts if read else [])


_SUBQUERY = re.compile(r"SCAN (CONSTANT|\(subquery|json_each)")
_EQUAL = re.compile(r"\(\S+=\?")
WALKED = {"threads_by_age", "questions_by_age"}
"""In the order of a list, with a limit."""


def _index(line: str) -> str:
    found = re.search(r"USING (?:COVERING )?INDEX (\w+)", line)
    return found[1] if found else ""


def statements(db: Connection) -> Iterator[tuple[str, str]]:
    """Give every statement of the store, by where it stands."""
    jobs = BUILT | TEMPLATES
    yield from (
        (name, sql) for name, each in jobs.items() for job in each for sql in done_by(db, job)
    )
    whole = constants(sqlite) | literals(sqlite)
    yield from ((name, sql) for name, sql in whole.items() if name not in TEMPLATES)


def test_no_statement_takes_longer_for_what_is_done(db: Connection) -> None:
    """No table is read whole and nothing is sorted, whoever asks for what."""
    wrong = {
        (name, sql): found
        for name, sql in statements(db)
        if name.partition(":")[0] not in READ_EVERYTHING and (found := faults(plan_of(db, sql)))
    }

    assert wrong == {}


def test_look_at_plans_finds_what_reads_everything(db: Connection) -> None:
    """Each that is named as such does; else it would have no place there."""
    guilty = {name.partition(":")[0] for name, sql in statements(db) if "SCAN" in plan_of(db, sql)}

    assert READ_EVERYTHING.keys() - guilty == set()


def test_rare_rows_are_found_by_an_index_of_their_own(db: Connection) -> None:
    """Failed threads among the finished, open questions among the answered, keys of a prefix."""
    threads = [
        sql for wish in RARE_THREADS for sql in done_by(db, _listing(lists.thread_page, wish))
    ]
    questions = [
        sql for wish in RARE_QUESTIONS for sql in done_by(db, _listing(lists.question_page, wish))
    ]

    keys_of_a_prefix = plan_of(db, constants(sqlite)["kept._KEYS_FROM"])

    assert [sql for sql in threads if "threads_aside" not in plan_of(db, sql)] == []
    indexes = re.compile("questions_(open|ranked)")
    assert [sql for sql in questions if not indexes.search(plan_of(db, sql))] == []
    assert "(owner=? AND key>? AND key<?)" in keys_of_a_prefix
    assert len(threads + questions) == len(RARE_THREADS + RARE_QUESTIONS)


def test_statements_are_found_by_reading_the_code() -> None:
    """What a function puts together must be asked for above."""
    templates = {name for name, sql in constants(sqlite).items() if is_template(sql)}

    assert builders(sqlite) == BUILT.keys()
    assert templates == TEMPLATES.keys()


def _listing(page: Callable[..., object], wish: object) -> Job:
    return lambda db: page(db, wish)
