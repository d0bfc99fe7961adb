"""Bring a database to the version that this code needs, or say why that can't be."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from storage.migrations.connections import run_on
from storage.migrations.versions import HEAD, REVISIONS, check_version


def upgrade(url: str, to: str = HEAD) -> None:
    """Migrate to the newest version (or to an older one), all the way or not at all."""
    run_on(url, lambda connection: _upgrade(connection, to))


def current(url: str) -> str | None:
    """Give the version of a database; None if it has no tables of ours."""
    return run_on(url, _version)


def check(url: str) -> None:
    """Raise SchemaTooOld or SchemaTooNew unless the code fits the database."""
    check_version(current(url))


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _upgrade(connection: Connection, to: str) -> None:
    version = _version(connection)
    if version is not None and version not in REVISIONS:
        check_version(version)
    connection.rollback()  # of the reading: the migration begins its own transaction
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, to)
