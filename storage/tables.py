"""The tables: declared once, for both databases and for the migrations. No query lives here.

Only migrations and the tests of the schema read this module: importing SQLModel costs half a
second, and the stores speak plain SQL (see docs/adr for what the ORM would cost).

Bodies are compact JSON text as msgspec writes it, times are milliseconds since 1970. No foreign
keys: each commit writes a thread and what hangs on it together, and a sharded database could not
keep them. The indexes that queues use are partial, so that what waits or is done costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlmodel import Field, SQLModel

_COUNTER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite counts by itself only in a column that is called INTEGER."""

_ASIDE = "status IN ('failed', 'paused', 'cancelled')"
"""See `storage.values.ASIDE`."""
_FROM_CHANNELS = "requester <> '' AND substr(origin, 1, 4) <> 'web:'"
"""Nobody lists the threads of a requester but channels: those of the API need no index for it."""
_RANKED = "status = 'open' AND rank <> 1"
_WITHOUT_ROWID = {"sqlite_with_rowid": False}
"""On SQLite a table with a key of its own is one B-tree then, not two: a page less to write."""


def _text(*, primary_key: bool = False) -> Column[str]:
    return Column(Text, nullable=False, primary_key=primary_key)


def _number(*, primary_key: bool = False) -> Column[int]:
    return Column(BigInteger, nullable=False, primary_key=primary_key, autoincrement=False)


def _perhaps(kind: type[Text | BigInteger] = BigInteger) -> Column[int | str]:
    return Column(kind, nullable=True)


class Threads(SQLModel, table=True):
    """A thread: what lists and queues know of it."""

    __table_args__ = (
        Index(
            "threads_by_key",
            "agent",
            "thread_key",
            unique=True,
            sqlite_where=text("thread_key <> ''"),
            postgresql_where=text("thread_key <> ''"),
        ),
        # `lease_until` is in no index: a claim or a renewal then changes the row alone.
        Index(
            "threads_due",
            "wake_at",
            sqlite_where=text("wake_at IS NOT NULL"),
            postgresql_where=text("wake_at IS NOT NULL"),
        ),
        Index("threads_by_age", "created_at", "id"),
        Index(
            "threads_aside",
            "status",
            "created_at",
            "id",
            sqlite_where=text(_ASIDE),
            postgresql_where=text(_ASIDE),
        ),
        Index(
            "threads_by_requester",
            "requester",
            "created_at",
            "id",
            sqlite_where=text(_FROM_CHANNELS),
            postgresql_where=text(_FROM_CHANNELS),
        ),
        _WITHOUT_ROWID,
    )

    id: str = Field(sa_column=_text(primary_key=True))
    agent: str = Field(sa_column=_text())
    status: str = Field(sa_column=_text())
    origin: str = Field(sa_column=_text())
    requester: str = Field(sa_column=_text())
    thread_key: str = Field(sa_column=_text())
    seq: int = Field(sa_column=_number())
    handled_seq: int = Field(sa_column=_number())
    wake_at: int | None = Field(sa_column=_perhaps())
    lease_until: int | None = Field(sa_column=_perhaps())
    epoch: int = Field(sa_column=_number())
    summary: str = Field(sa_column=_text())
    created_at: int = Field(sa_column=_number())
    updated_at: int = Field(sa_column=_number())
    chain: bytes | None = Field(sa_column=Column(LargeBinary, nullable=True))
    """Covers its events and deliveries (see `storage.seals`); none where nobody had a key."""


class Events(SQLModel, table=True):
    """An event of a log."""

    # On SQLite a thread's events lie side by side, however many threads grew at the same time:
    # reading a log takes half the time, for a tenth more in writing.
    __table_args__: ClassVar = _WITHOUT_ROWID

    thread: str = Field(sa_column=_text(primary_key=True))
    seq: int = Field(sa_column=_number(primary_key=True))
    body: str = Field(sa_column=_text())


class Snapshots(SQLModel, table=True):
    """What a thread's events up to `seq` add up to."""

    thread: str = Field(sa_column=_text(primary_key=True))
    seq: int = Field(sa_column=_number())
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Questions(SQLModel, table=True):
    """A question, wherever it was asked."""

    __table_args__ = (
        Index("questions_by_age", "asked_at", "id"),
        Index(
            "questions_open",
            "asked_at",
            "id",
            sqlite_where=text("status = 'open'"),
            postgresql_where=text("status = 'open'"),
        ),
        # Most have the usual rank, and cost nothing here.
        Index(
            "questions_ranked",
            "rank",
            "asked_at",
            "id",
            sqlite_where=text(_RANKED),
            postgresql_where=text(_RANKED),
        ),
        _WITHOUT_ROWID,
    )

    id: str = Field(sa_column=_text(primary_key=True))
    thread: str = Field(sa_column=_text())
    status: str = Field(sa_column=_text())
    asked_at: int = Field(sa_column=_number())
    expires_at: int | None = Field(sa_column=_perhaps())
    body: str = Field(sa_column=_text())
    rank: int = Field(sa_column=Column(SmallInteger, nullable=False, server_default=text("1")))
    asked: str = Field(sa_column=Column(Text, nullable=False, server_default=text("''")))
    """Who is asked, a line each in lower case; empty where nobody knows."""


class Deliveries(SQLModel, table=True):
    """A message to somebody; `n` is the order of writing."""

    __table_args__ = (
        Index("deliveries_by_name", "thread", "id", unique=True),
        Index(
            "deliveries_due",
            "due_at",
            "n",
            sqlite_where=text("status = 'pending'"),
            postgresql_where=text("status = 'pending'"),
        ),
        Index(
            "deliveries_pending",
            "thread",
            "address",
            "n",
            sqlite_where=text("status = 'pending'"),
            postgresql_where=text("status = 'pending'"),
        ),
        Index(
            "deliveries_failed",
            "n",
            sqlite_where=text("status = 'failed'"),
            postgresql_where=text("status = 'failed'"),
        ),
    )

    n: int | None = Field(
        default=None, sa_column=Column(_COUNTER, primary_key=True, autoincrement=True)
    )
    id: str = Field(sa_column=_text())
    """Its own within the thread: no index has to span all threads, nor all servers."""
    thread: str = Field(sa_column=_text())
    seq: int = Field(sa_column=_number())
    address: str = Field(sa_column=_text())
    body: str = Field(sa_column=_text())
    question: str | None = Field(sa_column=_perhaps(Text))
    status: str = Field(sa_column=_text())
    due_at: int | None = Field(sa_column=_perhaps())
    lease_until: int | None = Field(sa_column=_perhaps())
    epoch: int = Field(sa_column=_number())
    attempts: int = Field(sa_column=_number())
    receipt: str | None = Field(sa_column=_perhaps(Text))
    error: str = Field(sa_column=_text())


class Inbox(SQLModel, table=True):
    """A message from outside, and what became of it."""

    __table_args__ = (
        Index(
            "inbox_expiring",
            "expires_at",
            sqlite_where=text("expires_at IS NOT NULL"),
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
        _WITHOUT_ROWID,
    )

    source: str = Field(sa_column=_text(primary_key=True))
    key: str = Field(sa_column=_text(primary_key=True))
    digest: str = Field(sa_column=_text())
    thread: str = Field(sa_column=_text())
    seq: int = Field(sa_column=_number())
    expires_at: int | None = Field(sa_column=_perhaps())


class Places(SQLModel, table=True):
    """An address, and the thread whose conversation is there."""

    __table_args__ = (Index("places_by_thread", "thread"), _WITHOUT_ROWID)

    address: str = Field(sa_column=_text(primary_key=True))
    thread: str = Field(sa_column=_text())
    since: int = Field(sa_column=_number())


class Tombstones(SQLModel, table=True):
    """What is left of a thread that was purged; see `storage.retention`."""

    __table_args__: ClassVar = _WITHOUT_ROWID

    thread: str = Field(sa_column=_text(primary_key=True))
    at: int = Field(sa_column=_number())
    by: str = Field(sa_column=_text())
    seq: int = Field(sa_column=_number())
    entries: int = Field(sa_column=_number())
    chain: bytes | None = Field(sa_column=Column(LargeBinary, nullable=True))
    records: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    mark: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Parties(SQLModel, table=True):
    """Who has a part in which thread, in lower case; `at` is when the thread was made."""

    __table_args__ = (Index("parties_of_thread", "thread", "party"), _WITHOUT_ROWID)

    party: str = Field(sa_column=_text(primary_key=True))
    at: int = Field(sa_column=_number(primary_key=True))
    thread: str = Field(sa_column=_text(primary_key=True))


class Kept(SQLModel, table=True):
    """What a channel must remember; the value is sealed by whoever keeps it."""

    __table_args__ = (
        Index(
            "kept_expiring",
            "expires_at",
            sqlite_where=text("expires_at IS NOT NULL"),
            postgresql_where=text("expires_at IS NOT NULL"),
        ),
        _WITHOUT_ROWID,
    )

    owner: str = Field(sa_column=_text(primary_key=True))
    key: str = Field(sa_column=_text(primary_key=True))
    value: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    expires_at: int | None = Field(sa_column=_perhaps())


class ApiKeys(SQLModel, table=True):
    """An API key, by its hash; its scopes are separated by spaces."""

    __tablename__: ClassVar[str | Callable[..., str]] = "api_keys"

    id: str = Field(sa_column=_text(primary_key=True))
    name: str = Field(sa_column=_text())
    hash: str = Field(sa_column=Column(Text, nullable=False, unique=True))
    scopes: str = Field(sa_column=_text())
    created_at: int = Field(sa_column=_number())
    revoked_at: int | None = Field(sa_column=_perhaps())


class Settings(SQLModel, table=True):
    """What holds for all machines, such as the kill switch."""

    name: str = Field(sa_column=_text(primary_key=True))
    value: str = Field(sa_column=_text())


def tables(*, on_server: bool = False) -> MetaData:
    """Give our tables, and no others that share SQLModel's registry, as an agent's own might.

    With `on_server` as they are on PostgreSQL, whose primary keys are in the order of a language:
    a prefix is found by signs, so there it takes an index of its own. SQLite's is by signs anyway.
    """
    ours = MetaData()
    for table in _OURS:
        table.to_metadata(ours)
    if on_server:
        kept = ours.tables["kept"].columns
        Index("kept_by_prefix", kept.owner, kept.key, postgresql_ops={"key": "text_pattern_ops"})
    return ours


_OURS: list[Table] = [
    model.__table__  # type: ignore[union-attr]  # SQLModel adds it while running
    for model in (
        Threads,
        Events,
        Snapshots,
        Questions,
        Deliveries,
        Inbox,
        Places,
        Tombstones,
        Parties,
        Kept,
        ApiKeys,
        Settings,
    )
]
