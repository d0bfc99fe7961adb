"""Commands that run agents: `demo`, `serve` and `launch`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gateway.cli.options import AsJson


def demo(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Play the first minute by itself, print it, and exit.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Of the page; by default 8090, or any if taken."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the page's address, and open nothing.")
    ] = False,
) -> None:
    """Open the playground: Slack, mail, a pipeline and a real server; no account, no key."""
    from gateway import playground  # noqa: PLC0415 - only this command needs it

    raise typer.Exit(playground.main(once=once, port=port, browser=not no_browser))


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
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="With --wait: exit 3 if it has not ended by then; it goes on, and can be asked.",
        ),
    ] = None,
    thread_key: Annotated[
        str,
        typer.Option(
            "--thread-key",
            "--key",
            help="Names the thread: a later launch with the same key goes on with it.",
        ),
    ] = "",
    metadata: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="To be kept with the thread.")
    ] = [],  # noqa: B006 - typer copies it
    callback_url: Annotated[
        str, typer.Option(help="Where questions and the result are sent, as signed webhooks.")
    ] = "",
    idempotency_key: Annotated[
        str, typer.Option(help="Repeated with the same one, this launches nothing new.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Launch an agent; prints the thread's id, or with --wait the result.

    With --wait, exits 0 if it finished, 1 if it failed, was cancelled, or people did not give
    leave for what it last asked leave for, and 3 if it still waits after --timeout.
    """
    from gateway.cli.doing import launching  # noqa: PLC0415

    if timeout is not None and not wait:
        raise typer.BadParameter("--timeout goes with --wait")
    launching.launch(
        agent,
        text,
        wait=_patience(timeout) if wait else None,
        thread_key=thread_key,
        metadata=metadata,
        callback_url=callback_url,
        idempotency_key=idempotency_key,
        as_json=as_json,
    )


def _patience(timeout: float | None) -> float:
    return float("inf") if timeout is None else timeout
