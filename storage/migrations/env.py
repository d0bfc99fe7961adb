"""What Alembic runs: our revisions, on the connection that `upgrades` hands over."""

from __future__ import annotations

from alembic import context

from storage.migrations.online import LOCK_TIMEOUT

connection = context.config.attributes["connection"]
is_server = connection.dialect.name == "postgresql"
if is_server:
    connection.exec_driver_sql(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
    connection.commit()
context.configure(
    connection=connection,
    # SQLite has transactions around DDL as well, if only they are begun (see `connections`).
    transactional_ddl=True,
    # A file is nobody else's meanwhile: all or nothing. On a server others work on: what one
    # revision has locked, it lets go before the next begins.
    transaction_per_migration=is_server,
)
with context.begin_transaction():
    context.run_migrations()
