"""Writes `schema_sqlite.sql` from the migrations: `python -m storage.migrations.dump`.

A new file is made from that script, so that opening one needs no Alembic; a test compares the two.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from storage.migrations.upgrades import upgrade
from storage.migrations.versions import HEAD


def schema_sqlite() -> str:
    """Give the statements that make a file as the migrations would make it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.db"
        upgrade(f"sqlite:///{path}")
        with closing(sqlite3.connect(path)) as connection:
            made = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
            statements = [sql.strip() for (sql,) in made]
    statements.append(f"INSERT INTO alembic_version VALUES ('{HEAD}')")
    return ";\n".join(" ".join(statement.split()) for statement in statements) + ";\n"


if __name__ == "__main__":
    sys.stdout.write(schema_sqlite())
