"""Several `parley serve` on one PostgreSQL, each of a role, each of which can be killed."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.doubles.postgres import postgres_url, upgraded
from tests.scenario.gateway.cli_installation import ROOT, free_port
from tests.scenario.gateway.killable_server import AGENTS, KillableServer, new_key, prepare

LEASE_MS = 2_000
"""Long enough for a busy test machine to renew, short enough to wait for after a kill."""
_BETWEEN_TRIES = 0.05
_LONGEST_REST = 20.0
"""Seconds: several leases of the dead, one after the other."""
_DUE = """
SELECT id, wake_at, lease_until FROM threads
WHERE wake_at > 0 OR lease_until > extract(epoch FROM now()) * 1000
"""
"""The lease of a dead worker may stay behind on a thread that was cancelled in time."""
_UNSENT = "SELECT id, status, lease_until FROM deliveries WHERE status NOT IN ('sent', 'settled')"


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
        """Kill a process that is there, and start it again."""
        machine = self.chance.choice(self.all)
        assert await machine.stop() == -signal.SIGKILL, self.log
        await machine.start(lease_ms=LEASE_MS)

    async def rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        """Look into the database, beside the processes."""
        connection = await asyncpg.connect(self.database)
        try:
            return [tuple(row) for row in await connection.fetch(statement, *values)]
        finally:
            await connection.close()

    async def at_rest(self) -> None:
        """Wait until nothing is due, nothing is held and everything has been sent."""
        clock = asyncio.get_running_loop().time
        end = clock() + _LONGEST_REST
        while left := [*await self.rows(_DUE), *await self.rows(_UNSENT)]:
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
) -> AsyncIterator[Machines]:
    """Start a process of each role on a database of their own."""
    prepare(folder, agents)
    (folder / "parley.toml").write_text(config)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(postgres_url(upgraded))
        environ = {**_environ(database), **(settings or {})}
        key = await new_key(folder, environ)
        made = Machines(folder, database, key, chance)
        for role in roles:
            machine = await stack.enter_async_context(_machine(made, role, environ))
            made.all.append(machine)
            if role != "worker":
                made.doors.append(machine)
        yield made


@asynccontextmanager
async def _machine(
    made: Machines, role: str, environ: dict[str, str]
) -> AsyncIterator[KillableServer]:
    port = free_port()
    with (made.folder / "server.log").open("ab") as log:
        supervisor = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tests.doubles.warm_server", "--role", role),
            cwd=made.folder,
            env={**environ, "PARLEY_PORT": str(port)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    machine = KillableServer(made.folder, port, made.key, supervisor)
    try:
        await machine.start(lease_ms=LEASE_MS)
        yield machine
    finally:
        if machine.pid:
            os.kill(machine.pid, signal.SIGKILL)
        assert supervisor.stdin is not None
        supervisor.stdin.close()
        await supervisor.wait()


def _environ(database: str) -> dict[str, str]:
    ours = ("PARLEY_", "OPENAI_", "SLACK_", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PARLEY_AGENTS": "./agents.py",
        "PARLEY_DATABASE_URL": database,
        "PARLEY_SECRET_KEY": "0123456789abcdef",
        "PARLEY_LOG": "warning/text",
        "STORY_PAUSE": "0.02",
    }
