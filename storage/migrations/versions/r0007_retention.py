"""What letting go needs: tombstones of purged threads, and the places of a thread."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.online import make_index

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make an index on a table that is in use, and a new table."""
    make_index("places_by_thread", "places", ["thread"])
    op.create_table(
        "tombstones",
        sa.Column("thread", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("entries", sa.BigInteger, nullable=False),
        sa.Column("chain", sa.LargeBinary, nullable=True),
        sa.Column("records", sa.LargeBinary, nullable=False),
        sa.Column("mark", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("thread"),
        sqlite_with_rowid=False,
    )
