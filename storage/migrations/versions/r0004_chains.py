"""What makes changes visible: a chain for each thread. Threads that are there have none yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column; whoever has the key fills it."""
    op.add_column("threads", sa.Column("chain", sa.LargeBinary, nullable=True))
