"""How SQLite finds things: by an index, so that what waits or is done costs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from agent_core.thread.events import Millis, ThreadId
from agent_core.thread.questions import QuestionId
from storage.sqlite import SqliteStore, claims, kept, keys, lists, outbox, places, threads
from storage.sqlite.opening import connect
from storage.values import Claim, FailedWish, Wish

T = ThreadId("t")
NOW = Millis(1)
CURSOR = "MSB0"
FAILED = FailedWish(prefix="callback:")

STATEMENTS: list[tuple[str, Callable[[Connection], object], set[str]]] = [
    ("claim", lambda db: claims.claim(db, NOW, 1, 1), {"threads_due"}),
    ("renew", lambda db: claims.renew(db, [Claim(T, 1, 1)], NOW, 1), set()),
    ("release", lambda db: claims.release(db, Claim(T, 1, 1), 1, None), set()),
    ("queued", lambda db: claims.queued(db, NOW), {"threads_due"}),
    (
        "claim deliveries",
        lambda db: outbox.claim(db, NOW, 1, 1),
        {"deliveries_due", "deliveries_pending"},
    ),
    ("deliveries", lambda db: outbox.of_thread(db, T), {"deliveries_by_name"}),
    ("failed", lambda db: outbox.failed(db, FAILED), {"deliveries_failed"}),
    ("requeue", lambda db: outbox.requeue(db, FAILED, NOW), {"deliveries_failed"}),
    ("load", lambda db: threads.load(db, T, None), set()),
    ("load after", lambda db: threads.load(db, T, 1), set()),
    ("events", lambda db: threads.events(db, T, 1, 1), set()),
    ("thread by key", lambda db: threads.by_key(db, "a", "k"), {"threads_by_key"}),
    ("thread at", lambda db: places.thread_at(db, "p"), set()),
    ("question", lambda db: lists.question(db, QuestionId("q")), set()),
    ("open questions", lambda db: lists.question_page(db, Wish(status="open")), {"questions_open"}),
    ("inbox", lambda db: lists.inbox(db, "s", "k"), set()),
    ("sweep", lambda db: kept.sweep(db, NOW, 1), {"inbox_expiring", "kept_expiring"}),
    ("recall", lambda db: kept.recall(db, "o", "k", NOW), set()),
    ("take", lambda db: kept.take(db, "o", "k", NOW), set()),
    ("kept", lambda db: kept.keys(db, "o", "k", NOW), set()),
    ("key", lambda db: keys.by_hash(db, "h"), set()),
]
LISTS: list[tuple[str, Callable[[Connection], object], str]] = [
    ("threads", lambda db: lists.thread_page(db, Wish(cursor=CURSOR)), "threads_by_age"),
    ("threads, filtered", lambda db: lists.thread_page(db, Wish(agent="a")), "threads_by_age"),
    (
        "threads of one requester",
        lambda db: lists.thread_page(db, Wish(requester="r", cursor=CURSOR)),
        "threads_by_requester",
    ),
    ("questions", lambda db: lists.question_page(db, Wish(cursor=CURSOR)), "questions_by_age"),
]


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Connection]:
    """Open a new file, and tell every statement that runs over it."""
    store = SqliteStore(tmp_path / "parley.db")
    await store.open()
    await store.close()
    connection = connect(tmp_path / "parley.db")
    yield connection
    connection.close()


def plan(db: Connection, job: Callable[[Connection], object]) -> str:
    """Tell how SQLite does the statements of a job, one line for each step."""
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    job(db)
    db.set_trace_callback(None)
    steps = [db.execute(f"EXPLAIN QUERY PLAN {each}").fetchall() for each in statements]
    return "\n".join(step[3] for each in steps for step in each)


@pytest.mark.parametrize(("name", "job", "indexes"), STATEMENTS, ids=[s[0] for s in STATEMENTS])
def test_statement_searches_and_never_scans(
    db: Connection, name: str, job: Callable[[Connection], object], indexes: set[str]
) -> None:
    """With a hundred thousand threads that wait, each takes as long as with none."""
    steps = plan(db, job)

    tables = (
        "threads",
        "events",
        "questions",
        "deliveries",
        "inbox",
        "kept",
        "places",
        "api_keys",
        "later",
        "t",
        "q",
    )
    scans = [
        line for line in steps.splitlines() if line.startswith(tuple(f"SCAN {t}" for t in tables))
    ]
    small = ("USING INDEX questions_open", "USING INDEX deliveries_failed")
    assert [line for line in scans if not line.endswith(small)] == [], steps
    assert all(index in steps for index in indexes), steps


@pytest.mark.parametrize(("name", "job", "index"), LISTS, ids=[s[0] for s in LISTS])
def test_list_goes_along_its_index(
    db: Connection, name: str, job: Callable[[Connection], object], index: str
) -> None:
    """A page is read in order and not sorted; a filter looks at rows until the page is full."""
    steps = plan(db, job)

    assert index in steps
    assert "TEMP B-TREE" not in steps
