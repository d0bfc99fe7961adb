"""Fewer B-trees: each that a commit touches costs a page in the log, and two writes.

On SQLite a table with a key of its own needs no rowid beside it. And a delivery's name is its own
within its thread, so one index finds a thread's deliveries and keeps their names apart.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.migrations.online import drop_index, make_index

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index, and on SQLite the tables anew."""
    if op.get_bind().dialect.name == "sqlite":
        _make_threads()
        _make_questions()
        _make_inbox()
        _make_deliveries()
    else:
        make_index("deliveries_by_name", "deliveries", ["thread", "id"], unique=True)
        drop_index("deliveries_by_thread", "deliveries")
        op.execute("ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_id_key")


def _make_threads() -> None:
    columns: list[sa.Column[Any]] = [
        *(_text(name) for name in ("id", "agent", "status", "origin", "requester", "thread_key")),
        _number("seq"),
        _number("handled_seq"),
        _perhaps("wake_at"),
        _perhaps("lease_until"),
        _number("epoch"),
        _text("summary"),
        _number("created_at"),
        _number("updated_at"),
    ]
    _make_anew("threads", columns, ["id"])
    _index("threads_by_key", "threads", ["agent", "thread_key"], "thread_key <> ''", unique=True)
    _index("threads_due", "threads", ["wake_at"], "wake_at IS NOT NULL")
    op.create_index("threads_by_age", "threads", ["created_at", "id"])


def _make_questions() -> None:
    columns: list[sa.Column[Any]] = [
        *(_text(name) for name in ("id", "thread", "status")),
        _number("asked_at"),
        _perhaps("expires_at"),
        _text("body"),
    ]
    _make_anew("questions", columns, ["id"])
    op.create_index("questions_by_age", "questions", ["asked_at", "id"])
    _index("questions_open", "questions", ["asked_at", "id"], "status = 'open'")


def _make_inbox() -> None:
    columns: list[sa.Column[Any]] = [
        *(_text(name) for name in ("source", "key", "digest", "thread")),
        _number("seq"),
        _perhaps("expires_at"),
    ]
    _make_anew("inbox", columns, ["source", "key"])
    _index("inbox_expiring", "inbox", ["expires_at"], "expires_at IS NOT NULL")


def _make_deliveries() -> None:
    columns: list[sa.Column[Any]] = [
        sa.Column("n", sa.Integer, nullable=False, autoincrement=True),
        *(_text(name) for name in ("id", "thread")),
        _number("seq"),
        *(_text(name) for name in ("address", "body")),
        sa.Column("question", sa.Text),
        _text("status"),
        _perhaps("due_at"),
        _perhaps("lease_until"),
        _number("epoch"),
        _number("attempts"),
        sa.Column("receipt", sa.Text),
        _text("error"),
    ]
    _make_anew("deliveries", columns, ["n"], with_rowid=True)
    op.create_index("deliveries_by_name", "deliveries", ["thread", "id"], unique=True)
    _index("deliveries_due", "deliveries", ["due_at", "n"], "status = 'pending'")
    _index("deliveries_pending", "deliveries", ["thread", "address", "n"], "status = 'pending'")


def _make_anew(
    name: str, columns: list[sa.Column[Any]], key: list[str], *, with_rowid: bool = False
) -> None:
    """Make a table beside the old one, which goes with its indexes when all is copied."""
    names = ", ".join(f'"{column.name}"' for column in columns)
    op.rename_table(name, f"old_{name}")
    op.create_table(
        name,
        *columns,
        sa.PrimaryKeyConstraint(*key),
        sqlite_with_rowid=with_rowid,
    )
    op.execute(f"INSERT INTO {name} ({names}) SELECT {names} FROM old_{name}")
    op.drop_table(f"old_{name}")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _perhaps(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger)


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    op.create_index(name, table, columns, unique=unique, sqlite_where=sa.text(where))
