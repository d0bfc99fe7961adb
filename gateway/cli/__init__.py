"""The command line: `parley`, which is `python -m gateway`.

One file a group, with signatures and help only. What a command does stands in `doing` and is
imported when it is called, so that `parley --version` never waits for a library that it doesn't
use.

Data goes to stdout, talk to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage or settings.
"""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli import (
    audit,
    callbacks,
    database,
    doctor,
    email,
    events,
    halt,
    hooks,
    init,
    keys,
    people,
    questions,
    running,
    sessions,
    slack,
    threads,
)

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


for command in (running.demo, init.init, running.serve, running.launch):
    app.command()(command)
app.add_typer(threads.app)
app.add_typer(questions.app)
app.add_typer(events.app)
app.add_typer(halt.app)
app.add_typer(keys.app)
app.add_typer(sessions.app)
app.add_typer(people.app)
app.command()(doctor.doctor)
app.add_typer(slack.app)
app.add_typer(email.app)
app.add_typer(hooks.app)
app.add_typer(callbacks.app)
app.add_typer(audit.app)
app.add_typer(database.app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of the `parley` script."""
    try:
        app(arguments, prog_name="parley")
    except Exception as exc:  # noqa: BLE001 - the errors' classes are imported when there is one
        from gateway.cli.doing.failure import exit_code  # noqa: PLC0415

        raise SystemExit(exit_code(exc)) from None
