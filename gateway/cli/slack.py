"""`parley slack`: setting the app up."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("slack", "Setting up the app in Slack.")


@app.callback()
def _slack() -> None:
    """Set up the app in Slack."""


@app.command()
def manifest(
    *,
    name: Annotated[str, typer.Option(help="What people call the bot.")] = "Parley",
    socket: Annotated[
        bool, typer.Option("--socket", help="For Socket Mode: Slack need not reach the server.")
    ] = False,
    oauth: Annotated[
        bool, typer.Option("--oauth", help="For many workspaces, installed at /slack/install.")
    ] = False,
    as_json: AsJson = False,  # noqa: ARG001 (a manifest is JSON either way)
) -> None:
    """Print the manifest to make the app from, with exactly the scopes and events that we use."""
    from gateway.cli.doing import slack  # noqa: PLC0415

    slack.print_manifest(name=name, socket=socket, oauth=oauth)
