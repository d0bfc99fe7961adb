"""What Alembic runs: our revisions, on the connection that `upgrades` hands over."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
# SQLite has transactions around DDL as well, if only they are begun (see `connections`).
context.configure(connection=connection, transactional_ddl=True)
with context.begin_transaction():
    if connection.dialect.name == "postgresql":
        # Of two machines that upgrade at once, one waits and finds the work done.
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7235927)")
    context.run_migrations()
