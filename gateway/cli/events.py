"""`parley events`: tell that something happened, for whoever waits for it."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("events", "Tell threads that something happened.")


@app.callback()
def _events() -> None:
    """Tell threads that something happened."""


@app.command()
def send(
    key: Annotated[str, typer.Argument(metavar="KEY", help="What it is known by.")],
    value: Annotated[
        str, typer.Argument(metavar="JSON", help="An object, for the thread; - reads stdin.")
    ] = "{}",
    *,
    idempotency_key: Annotated[
        str, typer.Option(help="Repeated with the same one, this happens once.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Send an event: the thread that waits for KEY goes on, now or when it asks."""
    from gateway.cli.doing import events  # noqa: PLC0415

    events.send(key, value, idempotency_key=idempotency_key, as_json=as_json)
