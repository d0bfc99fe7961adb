"""The PostgreSQL that all share: durable, on this disk, its processor time counted."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg

from storage.migrations.upgrades import upgrade
from tests.doubles.postgres_server import PostgresServer, postgres_server

_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server, and an empty database for each who runs on it."""

    def __init__(self, running: PostgresServer) -> None:
        self._running = running

    @contextmanager
    def database(self, *, has_our_tables: bool) -> Iterator[str]:
        """Give a new one, and drop it."""
        name = f"bench_{uuid.uuid4().hex}"
        asyncio.run(self._do(f'CREATE DATABASE "{name}"'))
        url = self._running.url.replace("/postgres?", f"/{name}?")
        try:
            if has_our_tables:
                upgrade(url)
            asyncio.run(self._do("CHECKPOINT"))  # or one pays for what another has written
            yield url
        finally:
            asyncio.run(self._do(f'DROP DATABASE "{name}" WITH (FORCE)'))

    def cpu_seconds(self) -> float:
        """Give what it has used: the postmaster, those it has waited for, and those that live."""
        own = _ticks(self._running.pid, with_ended=True)
        return (own + sum(_ticks(child) for child in _children(self._running.pid))) / _TICKS

    async def _do(self, statement: str) -> None:
        connection = await asyncpg.connect(self._running.url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def server() -> Iterator[Server]:
    """Run one for as long as it is needed."""
    with postgres_server(fsync=True) as running:
        yield Server(running)


def _ticks(pid: int, *, with_ended: bool = False) -> int:
    """Read utime and stime (and those of ended children) from proc(5): fields 14 to 17."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return 0
    fields = stat.rpartition(")")[2].split()
    return sum(int(field) for field in fields[11 : 15 if with_ended else 13])


def _children(pid: int) -> list[int]:
    names = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [int(name) for name in names]
