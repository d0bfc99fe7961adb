"""`parley db`: the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("db", "The database itself.")


@app.command()
def upgrade(*, as_json: AsJson = False) -> None:
    """Make the tables, or bring them up to date."""
    from gateway.cli.doing import database  # noqa: PLC0415

    database.upgrade_(as_json=as_json)


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="SQLITE_URL", help="sqlite:///parley.db")],
    target: Annotated[
        str, typer.Argument(metavar="POSTGRES_URL", help="A new database: postgresql://host/name")
    ],
    *,
    ahead: Annotated[
        bool,
        typer.Option(
            "--ahead",
            help="Copy what is there now, while the server runs; the same command without this "
            "ends it when the server is stopped.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Move up from SQLite to PostgreSQL, with everything: threads that wait go on there.

    Killed at any moment, the same command goes on. Ended, it has proven that both sides are the
    same by count and digest, and no server opens the SQLite file any more.
    """
    from gateway.cli.doing import copying  # noqa: PLC0415

    copying.copy(source, target, ahead=ahead, as_json=as_json)


@app.command()
def reopen(
    source: Annotated[str, typer.Argument(metavar="SQLITE_URL", help="sqlite:///parley.db")],
    *,
    as_json: AsJson = False,
) -> None:
    """Go back to an SQLite file that was copied, if nothing has run on the copy."""
    from gateway.cli.doing import copying  # noqa: PLC0415

    copying.reopen_(source, as_json=as_json)
