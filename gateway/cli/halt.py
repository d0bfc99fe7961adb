"""`parley halt`: the kill switch."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.options import AsJson, group

app = group("halt", "The kill switch: no model or tool call anywhere until it is lifted.")


@app.command("on")
def pull(
    *,
    reason: Annotated[str, typer.Option(help="Why; everybody is told.")] = "halted by hand",
    as_json: AsJson = False,
) -> None:
    """Stop everything."""
    from gateway.cli.doing import halting  # noqa: PLC0415

    halting.pull(reason, as_json=as_json)


@app.command("off")
def lift(*, as_json: AsJson = False) -> None:
    """Let everything go on."""
    from gateway.cli.doing import halting  # noqa: PLC0415

    halting.lift(as_json=as_json)
