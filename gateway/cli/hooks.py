"""`parley hooks`: what `parley.toml` declares, and what a payload would do."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("hooks", "Webhooks that parley.toml declares.")


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the hooks, each with its address."""
    from gateway.cli.doing import hooks  # noqa: PLC0415

    hooks.list_(as_json=as_json)


@app.command("try")
def try_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The hook's name.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="A payload's file, or - for stdin.")],
    *,
    header: Annotated[
        list[str],
        typer.Option(help="A header that comes with it, like 'X-GitHub-Event: push'; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
) -> None:
    """Show what a payload would do, without doing it; exit 1 if it would be refused."""
    from gateway.cli.doing import hooks  # noqa: PLC0415

    hooks.try_(name, file, header, as_json=as_json)
