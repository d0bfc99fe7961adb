"""What could not be sent is found without a look at what was: by an index of its own."""

from __future__ import annotations

from storage.migrations.online import make_index

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the index."""
    make_index("deliveries_failed", "deliveries", ["n"], where="status = 'failed'")
