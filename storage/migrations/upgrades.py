"""Bring a database to the version that this code needs, or say why that can't be.

On PostgreSQL others work on while we migrate: of two that upgrade at once one waits and finds the
work done, and a revision that can't have its lock in a moment lets go and tries again.
"""

from __future__ import annotations

import time
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from storage.errors import StoreBusy
from storage.migrations.connections import run_on
from storage.migrations.versions import HEAD, REVISIONS, SERVES, SERVES_NAME, check_version

_LOCK = 7235927
_PATIENCE_S = 120.0
_PAUSE_S = 0.2
_LOCK_NOT_AVAILABLE = "55P03"

_READ_SERVES = sa.text("SELECT value FROM settings WHERE name = :name")
_WRITE_SERVES = sa.text(
    "INSERT INTO settings (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


def upgrade(url: str, to: str = HEAD) -> None:
    """Migrate to the newest version, or to an older one; what a revision does, it does wholly."""
    run_on(url, lambda connection: _upgrade(connection, to))


def current(url: str) -> str | None:
    """Give the version of a database; None if it has no tables of ours."""
    return run_on(url, _version)


def check(url: str) -> str | None:
    """Give the version, or raise SchemaTooOld or SchemaTooNew unless the code fits the database."""
    version, serves = run_on(url, lambda connection: (_version(connection), _serves(connection)))
    check_version(version, serves)
    return version


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _serves(connection: Connection) -> str | None:
    if not _is_server(connection) or _version(connection) is None:
        return None
    found: str | None = connection.scalar(_READ_SERVES, {"name": SERVES_NAME})
    return found


def _upgrade(connection: Connection, to: str) -> None:
    version = _version(connection)
    if version is not None and version not in REVISIONS:
        check_version(version)
    connection.rollback()  # of the reading: the migration begins its own transaction
    if not _is_server(connection):
        _migrate(connection, to)
        return
    deadline = time.monotonic() + _PATIENCE_S
    _wait_for_turn(connection, deadline)
    _migrate_beside_others(connection, to, deadline)
    if to == HEAD:
        connection.execute(_WRITE_SERVES, {"name": SERVES_NAME, "value": SERVES})
        connection.commit()


def _is_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _wait_for_turn(connection: Connection, deadline: float) -> None:
    """Be the only one who migrates, until we disconnect.

    Not by waiting in a statement: an index that another makes would wait for the end of ours.
    """
    while not connection.scalar(sa.text(f"SELECT pg_try_advisory_lock({_LOCK})")):
        connection.rollback()
        _pause(deadline, "another process is upgrading the database")
    connection.commit()


def _migrate_beside_others(connection: Connection, to: str, deadline: float) -> None:
    while True:
        try:
            return _migrate(connection, to)
        except sa.exc.DBAPIError as exc:
            if getattr(exc.orig, "sqlstate", "") != _LOCK_NOT_AVAILABLE:
                raise
        connection.rollback()
        _pause(deadline, "somebody holds a lock on a table for long: try again later")


def _pause(deadline: float, why: str) -> None:
    if time.monotonic() > deadline:
        raise StoreBusy(why)
    time.sleep(_PAUSE_S)


def _migrate(connection: Connection, to: str) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, to)
