"""Options and arguments that several commands share, and how a group is made."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
ThreadId: TypeAlias = Annotated[str, typer.Argument(metavar="THREAD", help="The thread's id.")]
Limit: TypeAlias = Annotated[int, typer.Option(min=1, max=200, help="How many at the most.")]
Cursor: TypeAlias = Annotated[str, typer.Option(help="Go on where the page before ended.")]
DryRun: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask whether to go on.")]


def group(name: str, told: str) -> typer.Typer:
    """Make a group of commands."""
    return typer.Typer(
        name=name,
        help=told,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
