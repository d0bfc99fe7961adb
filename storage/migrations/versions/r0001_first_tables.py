"""The first tables: threads and their logs, questions, the inbox and the outbox, keys, settings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _make_threads()
    _make_questions()
    _make_deliveries()
    _make_inbox()
    op.create_table(
        "api_keys",
        _text("id"),
        _text("name"),
        _text("hash"),
        _text("scopes"),
        _number("created_at"),
        _perhaps("revoked_at"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash"),
    )
    op.create_table("settings", _text("name"), _text("value"), sa.PrimaryKeyConstraint("name"))


def _make_threads() -> None:
    op.create_table(
        "threads",
        _text("id"),
        _text("agent"),
        _text("status"),
        _text("origin"),
        _text("requester"),
        _text("thread_key"),
        _number("seq"),
        _number("handled_seq"),
        _perhaps("wake_at"),
        _perhaps("lease_until"),
        _number("epoch"),
        _text("summary"),
        _number("created_at"),
        _number("updated_at"),
        sa.PrimaryKeyConstraint("id"),
    )
    _index("threads_by_key", "threads", ["agent", "thread_key"], "thread_key <> ''", unique=True)
    _index("threads_due", "threads", ["wake_at"], "wake_at IS NOT NULL")
    op.create_index("threads_by_age", "threads", ["created_at", "id"])
    op.create_table(
        "events",
        _text("thread"),
        _number("seq"),
        _text("body"),
        sa.PrimaryKeyConstraint("thread", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "snapshots",
        _text("thread"),
        _number("seq"),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("thread"),
    )


def _make_questions() -> None:
    op.create_table(
        "questions",
        _text("id"),
        _text("thread"),
        _text("status"),
        _number("asked_at"),
        _perhaps("expires_at"),
        _text("body"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("questions_by_age", "questions", ["asked_at", "id"])
    _index("questions_open", "questions", ["asked_at", "id"], "status = 'open'")


def _make_deliveries() -> None:
    counter = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "deliveries",
        sa.Column("n", counter, nullable=False, autoincrement=True),
        _text("id"),
        _text("thread"),
        _number("seq"),
        _text("address"),
        _text("body"),
        sa.Column("question", sa.Text),
        _text("status"),
        _perhaps("due_at"),
        _perhaps("lease_until"),
        _number("epoch"),
        _number("attempts"),
        sa.Column("receipt", sa.Text),
        _text("error"),
        sa.PrimaryKeyConstraint("n"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("deliveries_by_thread", "deliveries", ["thread", "n"])
    _index("deliveries_due", "deliveries", ["due_at", "n"], "status = 'pending'")
    _index("deliveries_pending", "deliveries", ["thread", "address", "n"], "status = 'pending'")


def _make_inbox() -> None:
    op.create_table(
        "inbox",
        _text("source"),
        _text("key"),
        _text("digest"),
        _text("thread"),
        _number("seq"),
        _perhaps("expires_at"),
        sa.PrimaryKeyConstraint("source", "key"),
    )
    _index("inbox_expiring", "inbox", ["expires_at"], "expires_at IS NOT NULL")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _perhaps(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger)


def _index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    only = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=only, postgresql_where=only)
