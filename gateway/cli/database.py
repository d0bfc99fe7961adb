"""`parley db`: the database itself."""

from __future__ import annotations

from gateway.cli.options import AsJson, group

app = group("db", "The database itself.")


@app.command()
def upgrade(*, as_json: AsJson = False) -> None:
    """Make the tables, or bring them up to date."""
    from gateway.cli.doing import database  # noqa: PLC0415

    database.upgrade_(as_json=as_json)
