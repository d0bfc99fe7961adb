"""LangGraph on its own PostgreSQL saver, with a pool of connections as its pages show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row  # type: ignore[import-not-found]  # in their own environment
from psycopg_pool import AsyncConnectionPool  # type: ignore[import-not-found]

from bench.gateway.langgraph_desk import LangGraph
from bench.machines.heat import main

_CONNECTIONS = 10
"""As many as ours has."""


@asynccontextmanager
async def opened(url: str, way: str) -> AsyncIterator[LangGraph]:
    """Open a saver; the first that comes makes its tables."""
    asked = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, max_size=_CONNECTIONS, open=False, kwargs=asked) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield LangGraph(saver, way)


if __name__ == "__main__":
    main(opened)
