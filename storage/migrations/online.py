"""Changes to a table that others are writing to: nobody may wait for us.

On PostgreSQL an index is made beside the work (CONCURRENTLY), which can't be in a transaction.
Everything else that a revision does to a table that is there must be a matter of a moment: a
column that may be null or has a constant for a default, a constraint that goes. It waits for its
lock only so long (`LOCK_TIMEOUT`), because whoever comes after us waits behind us; `upgrades`
tries again. New tables are nobody's yet, and are made as usual.

What is done concurrently comes first in its revision: the rest is then one transaction with the
new version, and a try that was cut off can be made again from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

LOCK_TIMEOUT = "200ms"
"""The longest that a commit may have to wait behind a migration that waits for another's lock."""

_IS_BROKEN = """
SELECT true FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE relname = :name AND relnamespace = current_schema()::regnamespace AND NOT indisvalid
"""


def make_index(
    name: str,
    table: str,
    columns: Sequence[str | sa.TextClause],
    *,
    where: str = "",
    unique: bool = False,
) -> None:
    """Make an index on a table that is in use."""
    only = sa.text(where) if where else None
    if op.get_bind().dialect.name != "postgresql":
        op.create_index(name, table, list(columns), unique=unique, sqlite_where=only)
        return
    with op.get_context().autocommit_block():
        op.execute("SET lock_timeout = 0")  # it waits for others, but nobody waits for it
        try:
            if op.get_bind().scalar(sa.text(_IS_BROKEN), {"name": name}):
                # Left behind by a try that was cut off: it costs writes and finds nothing.
                op.drop_index(name, table, postgresql_concurrently=True)
            op.create_index(
                name,
                table,
                list(columns),
                unique=unique,
                postgresql_where=only,
                postgresql_concurrently=True,
                if_not_exists=True,
            )
        finally:
            op.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")


def drop_index(name: str, table: str) -> None:
    """Drop an index of a table that is in use."""
    if op.get_bind().dialect.name != "postgresql":
        op.drop_index(name, table)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, table, postgresql_concurrently=True, if_exists=True)
