"""The command line: `parley`, which is `python -m gateway`.

Commands live here as signatures and help only. What they do is imported when they are called,
so that `parley --version` never waits for a library that it doesn't use.

Data goes to stdout, talk to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage.
"""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="parley",
    help="A gateway between people and AI agents.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag's value
    if not wanted:
        return
    from importlib.metadata import version  # noqa: PLC0415 - only this option needs it

    typer.echo(f"parley {version('parley')}")
    raise typer.Exit


@app.callback()
def _parley(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Connect people and AI agents, where the people are."""


@app.command()
def demo(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Answer for me, tell the story once, and exit.")
    ] = False,
) -> None:
    """Tell one whole story in the terminal: no account, no key."""
    from gateway import demo as story  # noqa: PLC0415 - only this command needs it

    raise typer.Exit(story.main(once=once))


def main() -> None:
    """Run the command line; the entry point of the `parley` script."""
    app(prog_name="parley")
