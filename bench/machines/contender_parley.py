"""Ours, as `parley serve` puts it together, without HTTP, on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.gateway.contender_parley import Parley, running
from bench.machines.heat import main
from gateway.audit.key import audit_seal
from storage.urls import open_store


@asynccontextmanager
async def opened(url: str, way: str = "") -> AsyncIterator[Parley]:  # noqa: ARG001 (one way only)
    """Run a gateway on tables that are there."""
    async with running(open_store(url, seal=audit_seal(b"as it is served"))) as gateway:
        yield gateway


if __name__ == "__main__":
    main(opened)
