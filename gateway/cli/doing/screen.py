"""The terminal: where data and talk go, how wide a table is, and that something is under way.

rich is loaded when something is laid out: a server, or a command with `--json`, never does.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gateway.cli.doing.plain import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_GAP = 2
_LEAST = 4
_NO_EDGE = 10_000
"""A pipe has no edge: nothing is cut or wrapped for whoever reads it there."""


def data_console() -> Console:
    """Give the console of stdout."""
    return _console(sys.stdout)


def talk_console() -> Console:
    """Give the console of stderr."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415 - see above

    console = Console(file=_lenient(stream), highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = _NO_EDGE
    return console


def _lenient(stream: TextIO) -> TextIO:
    """Show "?" where a terminal or a log has no sign for ours: no command fails for that."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    return stream


def data(text: str) -> None:
    """Print data as it is."""
    _lenient(sys.stdout).write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def say(words: str) -> None:
    """Talk."""
    _lenient(sys.stderr).write(f"{shown(words)}\n")
    sys.stderr.flush()


@dataclass(frozen=True)
class Column:
    """A column of a table: one that is `whole` is never cut, because people copy from it."""

    title: str
    whole: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal: what is too long ends in an ellipsis."""
    from rich.table import Table  # noqa: PLC0415 - see above
    from rich.text import Text  # noqa: PLC0415

    console = data_console()
    cells = [[one_line(cell) for cell in row] for row in rows]
    laid = Table(box=None, padding=(0, _GAP, 0, 0), header_style="dim", pad_edge=False)
    for column, width in zip(columns, _widths(columns, cells, console.width), strict=True):
        laid.add_column(
            column.title,
            width=width,
            overflow="fold" if column.whole else "ellipsis",
            no_wrap=not column.whole,
        )
    for row in cells:
        laid.add_row(*(Text(cell) for cell in row))
    console.print(laid)


def _widths(columns: Sequence[Column], cells: list[list[str]], room: int) -> list[int]:
    """Take from the widest until all fit; from whole columns only when nothing else is left."""
    from rich.cells import cell_len  # noqa: PLC0415 - see above

    titles = [column.title for column in columns]
    widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    while sum(widths) + _GAP * (len(widths) - 1) > room:
        candidates = [i for i, one in enumerate(columns) if not one.whole and widths[i] > _LEAST]
        widest = max(candidates or range(len(widths)), key=lambda i: widths[i])
        if widths[widest] <= 1:
            break
        widths[widest] -= 1
    return widths


@dataclass
class Progress:
    """A line on stderr that says what is being waited for; only on a terminal."""

    _status: Status | None = None

    def show(self, words: str) -> None:
        """Say what is being waited for now."""
        if not sys.stderr.isatty():
            return
        from rich.text import Text  # noqa: PLC0415 - see above

        console = talk_console()
        if self._status is None:
            self._status = console.status("", spinner="dots")
            self._status.start()
        line = Text(one_line(words), style="dim", no_wrap=True, overflow="ellipsis")
        line.truncate(max(10, console.width - 4), overflow="ellipsis")
        self._status.update(line)

    def hide(self) -> None:
        """Make room for something else."""
        if self._status is not None:
            self._status.stop()
            self._status = None


@contextmanager
def progress(words: str) -> Iterator[Progress]:
    """Show that something is under way, until it is done."""
    line = Progress()
    line.show(words)
    try:
        yield line
    finally:
        line.hide()
