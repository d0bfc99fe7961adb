"""DBOS on SQLite, where it learns of answers by polling: each second by default.

A cycle would take two. It polls here as often as it can be told to, which is what makes its rate
its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.gateway.dbos_desk import Dbos, launched
from bench.gateway.stopwatch import main

_POLL = 0.001


class OnFile:
    """Its cycle, and the file that it fills."""

    def __init__(self, desk: Dbos, database: Path) -> None:
        self.version = desk.version
        self.database = database
        self.cycle = desk.cycle


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[OnFile]:  # noqa: ARG001 (one way only)
    """Launch DBOS on a new file."""
    database = folder / "dbos.db"
    url = f"sqlite:///{database}"
    with launched(url, notification_listener_polling_interval_sec=_POLL) as desk:
        yield OnFile(desk, database)


if __name__ == "__main__":
    main(opened)
