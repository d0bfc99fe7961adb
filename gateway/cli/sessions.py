"""`parley sessions`: who is signed in to the inbox. Works on the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("sessions", "Who is signed in to the inbox; works on the database itself.")


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List who is signed in, the newest first."""
    from gateway.cli.doing import sessions  # noqa: PLC0415

    sessions.list_(as_json=as_json)


@app.command()
def revoke(
    who: Annotated[
        str, typer.Argument(metavar="WHO", help="A session's id, or a name: all of theirs.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Sign somebody out, everywhere."""
    from gateway.cli.doing import sessions  # noqa: PLC0415

    sessions.revoke(who, as_json=as_json)
