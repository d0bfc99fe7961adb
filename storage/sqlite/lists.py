"""Lists of threads and questions, in pages; and the questions index and the inbox by key."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_core.thread.questions import QuestionId
from storage.cursors import read_cursor, write_cursor
from storage.sqlite.threads import COLUMNS, thread_row
from storage.texts import asked_text, read_asked, read_object
from storage.values import ASIDE, USUAL_RANK, InboxRecord, Page, QuestionPage, QuestionRow, Wish

_DUE = """
(wake_at IS NOT NULL AND wake_at <= :now AND (lease_until IS NULL OR lease_until <= :now))
"""
_QUESTION = "q.id, q.thread, q.status, q.asked_at, q.expires_at, q.body, q.rank, q.asked"
_ASIDE = f"status IN ({', '.join(repr(status) for status in ASIDE)})"
_OF_A_PARTY = """
SELECT * FROM (
    SELECT p.thread FROM parties AS p CROSS JOIN threads AS t ON t.id = p.thread
    WHERE p.party = :party{number} AND {conditions} ORDER BY p.at DESC, p.thread DESC LIMIT :limit
)
"""  # CROSS JOIN: in the order of the index of parties, so that it can stop at the limit


def thread_page(connection: sqlite3.Connection, wish: Wish) -> Page:
    """List threads, newest first."""
    conditions = ["true"]
    if wish.agent:
        conditions.append("agent = :agent")
    if wish.requester:
        # The index knows only threads that have a requester, and has to be told that this is one.
        conditions.append("requester = :requester AND requester <> ''")
        conditions.append("substr(origin, 1, 4) <> 'web:'")
    if wish.status:
        conditions.append(_with_status(wish))
    if wish.cursor:
        conditions.append("(created_at, id) < (:at, :id)")
        if wish.parties:  # the same again, by the index that is walked
            conditions.append("(p.at, p.thread) < (:at, :id)")
    if wish.parties:
        conditions = [f"id IN ({_of_parties(wish, conditions)})"]
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM threads AS t WHERE {' AND '.join(conditions)} "
        "ORDER BY created_at DESC, id DESC LIMIT :limit",
        _values(wish),
    ).fetchall()
    items = [thread_row(row) for row in rows[: wish.limit]]
    more = len(rows) > wish.limit
    return Page(items, write_cursor(items[-1].created_at, items[-1].id) if more else None)


def _of_parties(wish: Wish, conditions: list[str]) -> str:
    """Find the newest threads of each party by itself, and put them together."""
    where = " AND ".join(conditions)
    return " UNION ".join(
        _OF_A_PARTY.format(number=number, conditions=where) for number in range(len(wish.parties))
    )


def _with_status(wish: Wish) -> str:
    # The index of those aside has to be told that this is one of them.
    wanted = f"status = :status AND {_ASIDE}" if wish.status in ASIDE else "status = :status"
    if wish.now is None:
        return wanted
    return _DUE if wish.status == "queued" else f"{wanted} AND NOT {_DUE}"


def question_page(connection: sqlite3.Connection, wish: Wish) -> QuestionPage:
    """List questions, oldest first."""
    conditions = ["true"]
    if wish.status == "open":
        conditions.append("status = 'open'")  # spelled out, as its index asks for
    elif wish.status:
        conditions.append("status = :status")
    if wish.agent:
        conditions.append("(SELECT agent FROM threads AS t WHERE t.id = q.thread) = :agent")
    if wish.cursor:
        conditions.append("(asked_at, id) > (:at, :id)")
    if wish.rank is not None:
        # The index of ranks knows only unusual ones, and has to be told that this is one.
        unusual = "" if wish.rank == USUAL_RANK else f" AND rank <> {USUAL_RANK}"
        conditions.append(f"rank = :rank{unusual}")
    if wish.parties:
        named = [f"instr(asked, :line{number})" for number in range(len(wish.parties))]
        conditions.append(f"(asked = '' OR {' OR '.join(named)})")
    rows = connection.execute(
        f"SELECT {_QUESTION} FROM questions AS q WHERE {' AND '.join(conditions)} "
        "ORDER BY asked_at, id LIMIT :limit",
        _values(wish),
    ).fetchall()
    items = [_question(row) for row in rows[: wish.limit]]
    more = len(rows) > wish.limit
    return QuestionPage(items, write_cursor(items[-1].asked_at, items[-1].id) if more else None)


def _values(wish: Wish) -> dict[str, object]:
    at, name = read_cursor(wish.cursor) if wish.cursor else (0, "")
    return {
        "agent": wish.agent,
        "requester": wish.requester,
        "status": wish.status,
        "now": wish.now,
        "at": at,
        "id": name,
        "limit": wish.limit + 1,
        "rank": wish.rank,
        **{f"party{number}": party for number, party in enumerate(wish.parties)},
        **{f"line{number}": asked_text([party]) for number, party in enumerate(wish.parties)},
    }


def question(connection: sqlite3.Connection, name: QuestionId) -> QuestionRow | None:
    """Give a question."""
    statement = f"SELECT {_QUESTION} FROM questions AS q WHERE id = ?"
    row = connection.execute(statement, (name,)).fetchone()
    return None if row is None else _question(row)


def _question(row: Any) -> QuestionRow:  # noqa: ANN401 (a row of the database, in our own order)
    return QuestionRow(
        id=row[0],
        thread=row[1],
        status=row[2],
        asked_at=row[3],
        expires_at=row[4],
        body=read_object(row[5]),
        rank=row[6],
        asked=read_asked(row[7]),
    )


def inbox(connection: sqlite3.Connection, source: str, key: str) -> InboxRecord | None:
    """Tell what became of a message."""
    statement = "SELECT thread, seq, digest FROM inbox WHERE source = ? AND key = ?"
    row = connection.execute(statement, (source, key)).fetchone()
    return None if row is None else InboxRecord(*row)
