"""What channels need: places, what they keep, and the threads of one requester."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make two tables, and an index on an old one."""
    op.create_table(
        "places",
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("thread", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("address"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "kept",
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("owner", "key"),
        sqlite_with_rowid=False,
    )
    _index("kept_expiring", "kept", ["expires_at"], "expires_at IS NOT NULL")
    of_channels = "requester <> '' AND substr(origin, 1, 4) <> 'web:'"
    _index("threads_by_requester", "threads", ["requester", "created_at", "id"], of_channels)


def _index(name: str, table: str, columns: list[str], where: str) -> None:
    only = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=only, postgresql_where=only)
