"""What channels need: places, what they keep, and the threads of one requester."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.online import make_index

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make an index on an old table, and two tables."""
    of_channels = "requester <> '' AND substr(origin, 1, 4) <> 'web:'"
    columns = ["requester", "created_at", "id"]
    make_index("threads_by_requester", "threads", columns, where=of_channels)
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
    only = sa.text("expires_at IS NOT NULL")
    op.create_index(
        "kept_expiring", "kept", ["expires_at"], sqlite_where=only, postgresql_where=only
    )
