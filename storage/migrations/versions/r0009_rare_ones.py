"""What is rare is found among what is common: by an index of its own.

Threads that failed, were paused or cancelled, among all that have finished. And what is kept under
names with the same prefix, among all that an owner has kept: on PostgreSQL, whose primary keys are
in the order of a language; SQLite finds it by its primary key.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.migrations.online import make_index

revision = "0009"
down_revision = "0007"


def upgrade() -> None:
    """Make the indexes, beside the work of others."""
    only = "status IN ('failed', 'paused', 'cancelled')"
    make_index("threads_aside", "threads", ["status", "created_at", "id"], where=only)
    if op.get_bind().dialect.name == "postgresql":
        make_index("kept_by_prefix", "kept", ["owner", sa.text("key text_pattern_ops")])
