"""`parley people`: who `parley.toml` lists, whether they can be reached, and forgetting them."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, DryRun, Yes, group

app = group("people", "People that parley.toml lists.")


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the people, with the ways to them in the order that they prefer."""
    from gateway.cli.doing import people  # noqa: PLC0415

    people.list_(as_json=as_json)


@app.command()
def check(*, as_json: AsJson = False) -> None:
    """Tell who can't be reached, and names that lead nowhere; exit 1 if there are any."""
    from gateway.cli.doing import people  # noqa: PLC0415

    people.check(as_json=as_json)


@app.command()
def erase(
    who: Annotated[
        str,
        typer.Argument(
            metavar="WHO", help="A name of [[people]], ann@example.com, or slack:T1:U2."
        ),
    ],
    *,
    reason: Annotated[
        str, typer.Option(help="Why; the log is told, so it must not name them.")
    ] = "",
    also_waiting: Annotated[
        bool,
        typer.Option(
            "--also-waiting",
            help="Also in threads that have not ended; what waits for them alone is withdrawn.",
        ),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take somebody's words and names out of everything; on the database itself."""
    from gateway.cli.doing import retention  # noqa: PLC0415

    retention.erase(
        who, reason, also_waiting=also_waiting, dry_run=dry_run, yes=yes, as_json=as_json
    )
