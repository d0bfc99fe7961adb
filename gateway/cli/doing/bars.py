"""Bars on stderr for what takes long: one for each part of the work; only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from gateway.cli.doing.screen import talk_console

Advance: TypeAlias = Callable[[str, int, int], None]
"""Tells how far a part is: its name, how much of it is done, and how much there is."""


@contextmanager
def bars(unit: str) -> Iterator[Advance]:
    """Show a bar for each part that is told of, until all is done; `unit` is what is counted."""
    if not sys.stderr.isatty():
        yield _quiet
        return
    from rich.progress import (  # noqa: PLC0415 - only a terminal shows it
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    parts: dict[str, TaskID] = {}
    shown = Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
        console=talk_console(),
    )

    def advance(part: str, done: int, whole: int) -> None:
        if part not in parts:
            parts[part] = shown.add_task(part, total=whole)
        shown.update(parts[part], completed=done, total=whole)

    with shown:
        yield advance


def _quiet(_part: str, _done: int, _whole: int) -> None:
    """Show nothing: nobody looks."""
