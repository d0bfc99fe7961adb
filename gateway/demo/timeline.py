"""A whole thread as a table: one line an event, with the process that wrote it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from agent_core import Thread
from agent_core.thread.times import as_datetime
from gateway.demo.words import fact


def timeline(thread: Thread, writers: Sequence[int]) -> Table:
    """Draw the log; `writers` holds the process id of each event's writer."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("#", justify="right", style="dim", min_width=2)
    table.add_column("UTC", style="dim", min_width=8)
    table.add_column("process", justify="right", min_width=7)
    table.add_column("event", style="cyan", min_width=16)
    table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    for seq, (event, pid) in enumerate(zip(thread.events, writers, strict=True), start=1):
        table.add_row(
            str(seq),
            f"{as_datetime(event.at):%H:%M:%S}",
            str(pid),
            type(event).__name__,
            Text(fact(event, thread.state.calls)),
        )
    return table
