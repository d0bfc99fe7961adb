"""LangGraph on its own SQLite saver, which sets WAL and leaves `synchronous` at SQLite's FULL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bench.gateway.langgraph_desk import LangGraph
from bench.gateway.stopwatch import main


class OnFile(LangGraph):
    """A graph whose checkpoints are in a file."""

    def __init__(self, saver: AsyncSqliteSaver, database: Path, way: str) -> None:
        super().__init__(saver, way)
        self.database = database


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[OnFile]:
    """Open a saver on a new file."""
    database = folder / "langgraph.db"
    async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
        await saver.setup()
        yield OnFile(saver, database, way)


if __name__ == "__main__":
    main(opened)
