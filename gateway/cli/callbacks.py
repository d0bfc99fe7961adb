"""`parley callbacks`: what could not be sent to programs, and the secret that they check."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("callbacks", "Callbacks: what goes out as signed webhooks.")


@app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List the endpoints that fail, are disabled, or have missed something."""
    from gateway.cli.doing import callbacks  # noqa: PLC0415

    callbacks.list_(as_json=as_json)


@app.command()
def replay(
    *,
    thread: Annotated[str, typer.Option(help="Only what is about this thread.")] = "",
    url: Annotated[str, typer.Option(help="Only what was for this endpoint.")] = "",
    since: Annotated[
        str, typer.Option(help="Only what failed since then, like 2026-11-16T09:00:00Z.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Send again, in order, what has failed: all of it, or what the options say."""
    from gateway.cli.doing import callbacks  # noqa: PLC0415

    callbacks.replay(thread, url, since, as_json=as_json)


@app.command()
def enable(
    url: Annotated[str, typer.Argument(metavar="URL", help="The endpoint, as `list` shows it.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Send to a disabled endpoint again."""
    from gateway.cli.doing import callbacks  # noqa: PLC0415

    callbacks.enable(url, as_json=as_json)


@app.command()
def secret(
    *,
    new: Annotated[
        bool, typer.Option("--new", help="Make a new one, for PARLEY_CALLBACK_SECRET.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what receivers check signatures with; works on the settings themselves."""
    from gateway.cli.doing import callbacks  # noqa: PLC0415

    callbacks.secret(new=new, as_json=as_json)
