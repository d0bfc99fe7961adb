"""What could not be sent is found without a look at what was: by an index of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the index."""
    only = sa.text("status = 'failed'")
    op.create_index(
        "deliveries_failed", "deliveries", ["n"], sqlite_where=only, postgresql_where=only
    )
