"""`parley audit`: what happened, for whoever must prove it. Works on the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("audit", "What happened, and that nobody changed it; works on the database itself.")


@app.command()
def export(
    *,
    thread: Annotated[str, typer.Option(help="Only this thread.")] = "",
    since: Annotated[
        str, typer.Option(help="Only what came since, like 2026-11-01 or 2026-11-01T09:30Z.")
    ] = "",
    _as_json: Annotated[bool, typer.Option("--json", help="It is JSON in any case.")] = False,
) -> None:
    """Print who was asked, by which way, who answered and what ran: a JSON object a line."""
    from gateway.cli.doing import audit  # noqa: PLC0415

    audit.export(thread, since)


@app.command()
def verify(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="An export; without it, the database.")
    ] = "",
    *,
    against: Annotated[
        str, typer.Option(metavar="FILE", help="An earlier export, all of which must still hold.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Find any change; exits with 1 if there is one."""
    from gateway.cli.doing import audit  # noqa: PLC0415

    audit.verify(file, against, as_json=as_json)


@app.command()
def begin(*, as_json: AsJson = False) -> None:
    """Seal all that stands in the database now; after the secret key was replaced."""
    from gateway.cli.doing import audit  # noqa: PLC0415

    audit.begin(as_json=as_json)
