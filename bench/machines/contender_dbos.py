"""DBOS on PostgreSQL, where it is told of answers by LISTEN and NOTIFY."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.gateway.dbos_desk import Dbos, launched
from bench.machines.heat import main


@asynccontextmanager
async def opened(url: str, way: str) -> AsyncIterator[Dbos]:  # noqa: ARG001 (one way only)
    """Launch DBOS."""
    with launched(url) as desk:
        yield desk


if __name__ == "__main__":
    main(opened)
