"""Commands that run agents: `demo`, `serve` and `launch`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gateway.cli.options import AsJson


def demo(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Answer for me, tell the story once, and exit.")
    ] = False,
) -> None:
    """Tell one whole story in the terminal: no account, no key."""
    from gateway import demo as story  # noqa: PLC0415 - only this command needs it

    raise typer.Exit(story.main(once=once))


def serve(
    *,
    role: Annotated[
        Literal["all", "web", "worker"],
        typer.Option(help="What this process does: answer requests, run agents, or both."),
    ] = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Log JSON lines.")] = False,
) -> None:
    """Run the server until it is told to stop."""
    from gateway.cli.doing import serving  # noqa: PLC0415

    serving.serve(role, as_json=as_json)


def launch(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Which agent.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to say; - reads stdin.")],
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the result, through questions to people.")
    ] = False,
    key: Annotated[
        str,
        typer.Option(help="Names the thread: a later launch with the same key goes on with it."),
    ] = "",
    metadata: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="To be kept with the thread.")
    ] = [],  # noqa: B006 - typer copies it
    idempotency_key: Annotated[
        str, typer.Option(help="Repeated with the same one, this launches nothing new.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Launch an agent; prints the thread's id, or with --wait the result."""
    from gateway.cli.doing import launching  # noqa: PLC0415

    launching.launch(
        agent,
        text,
        wait=wait,
        thread_key=key,
        metadata=metadata,
        idempotency_key=idempotency_key,
        as_json=as_json,
    )
