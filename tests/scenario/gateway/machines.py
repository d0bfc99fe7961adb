"""Several `parley serve` on one PostgreSQL, each of a role, each of which can be killed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.supervisor import ROOT, supervisor
from tests.scenario.gateway.cli_installation import free_port
from tests.scenario.gateway.killable_server import (
    AGENTS,
    KillableServer,
    new_key,
    prepare,
    until_the_end,
)

LEASE_MS = 2_000
"""Long enough for a busy test machine to renew, short enough to wait for after a kill."""
_BETWEEN_TRIES = 0.05
_LONGEST_REST = 20.0
"""Seconds: several leases of the dead, one after the other."""
_DUE = "SELECT id, wake_at, lease_until FROM threads WHERE wake_at > 0 OR lease_until > $1"
"""The lease of a dead worker may stay behind on a thread that was cancelled in time."""
_UNSENT = "SELECT id, status, lease_until FROM deliveries WHERE status = 'pending'"


@dataclass
class Machines:
    """The processes, what they share, and a way to look at it from outside."""

    folder: Path
    database: str
    key: str
    chance: random.Random
    all: list[KillableServer] = field(default_factory=list)
    doors: list[KillableServer] = field(default_factory=list)
    """Those that answer requests."""

    @property
    def url(self) -> str:
        """Where to ask: now here, now there."""
        return self.chance.choice(self.doors).url

    @property
    def log(self) -> str:
        """What all the processes have logged."""
        return (self.folder / "server.log").read_text()

    def lines(self, name: str) -> list[str]:
        """Give what the tools have left behind."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    async def kill_one(self) -> None:
        """Kill a process that is there, start it again, and wait until it answers, if it does."""
        machine = self.chance.choice(self.all)
        assert await machine.stop() == -signal.SIGKILL, self.log
        await machine.start(lease_ms=LEASE_MS)
        if machine in self.doors:
            await machine.ready()

    async def rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Look into the database, beside the processes."""
        if self.database.startswith("sqlite:"):
            return _rows_of_file(self.database.removeprefix("sqlite:///"), statement, values)
        connection = await asyncpg.connect(self.database)
        try:
            return [tuple(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()

    async def at_rest(self, seconds: float = _LONGEST_REST) -> None:
        """Wait until nothing is due, nothing is held and everything has been sent."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        while left := [*await self.rows(_DUE, _now()), *await self.rows(_UNSENT)]:
            assert clock() < end, (left, self.log)
            await asyncio.sleep(_BETWEEN_TRIES)


@asynccontextmanager
async def machines(
    folder: Path,
    roles: Sequence[str],
    chance: random.Random,
    *,
    agents: str = AGENTS,
    config: str = "",
    settings: Mapping[str, str] | None = None,
    database: str = "",
    seen_as: str = "",
) -> AsyncIterator[Machines]:
    """Start a process of each role on a database of their own.

    Or on this one, which they may see under another address than we do.
    """
    prepare(folder, agents)
    (folder / "parley.toml").write_text(config)
    async with AsyncExitStack() as stack:
        database = database or await stack.enter_async_context(postgres_url(upgraded))
        environ = {**environ_of(seen_as or database), **(settings or {})}
        async with supervisor(folder, environ) as watching:
            key = await new_key(folder, watching)
        made = Machines(folder, database, key, chance)
        for role in roles:
            started = await stack.enter_async_context(machine(made, role, environ))
            made.all.append(started)
            if role != "worker":
                made.doors.append(started)
        yield made


@asynccontextmanager
async def machine(
    made: Machines, role: str, environ: Mapping[str, str]
) -> AsyncIterator[KillableServer]:
    """Start one more process beside those that are there, for a while."""
    port = free_port()
    async with (
        supervisor(made.folder, {**environ, "PARLEY_PORT": str(port)}) as watching,
        until_the_end(KillableServer(made.folder, port, made.key, watching, role)) as started,
    ):
        await started.start(lease_ms=LEASE_MS)
        yield started


def _rows_of_file(path: str, statement: str, values: Sequence[str | int]) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(statement.replace("$1", "?1"), values).fetchall()


def _now() -> int:
    return int(time.time() * 1000)


def environ_of(database: str) -> dict[str, str]:
    """Give what a process of ours finds in its environment."""
    ours = ("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PARLEY_AGENTS": "./agents.py",
        "PARLEY_DATABASE_URL": database,
        "PARLEY_SECRET_KEY": "0123456789abcdef",
        "PARLEY_LOG": "warning/text",
        "STORY_PAUSE": "0.02",
    }
