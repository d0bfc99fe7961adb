"""`parley keys`: who may use the API. Works on the database itself, also with no server."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("keys", "Keys of the API; works on the database itself.")


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is; stands in the logs.")],
    *,
    scope: Annotated[
        list[str],
        typer.Option(help="What it may do: launch, answer, control, read or admin; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, this once."""
    from gateway.cli.doing import keys  # noqa: PLC0415

    keys.create(name, scope, as_json=as_json)


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the keys, without what makes them work."""
    from gateway.cli.doing import keys  # noqa: PLC0415

    keys.list_(as_json=as_json)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key's id, or its name.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Make a key useless."""
    from gateway.cli.doing import keys  # noqa: PLC0415

    keys.revoke(key, as_json=as_json)
