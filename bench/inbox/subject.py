"""The server as the benchmark holds it: started, asked, looked at from outside, stopped."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.migrations.upgrades import upgrade
from tests.doubles.postgres_server import postgres_server

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Subject:
    """A running server."""

    process: asyncio.subprocess.Process
    url: str
    bare: str
    thread: str
    cookies: list[dict[str, str]]

    async def commit(self) -> float:
        """Let an event be committed; gives when that was."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        await self.process.stdin.drain()
        return float((await _line(self.process))["at"])

    def memory(self) -> int:
        """Give how many KB it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")
        )


@asynccontextmanager
async def subject(store: str, threads: int, events: int) -> AsyncIterator[Subject]:
    """Start a server on an empty store of that kind."""
    async with _database(store) as url:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bench.inbox.server",
            url,
            str(threads),
            str(events),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            limit=1 << 20,
        )
        try:
            yield Subject(process, **await _line(process))
        finally:
            process.kill()
            await process.wait()


@asynccontextmanager
async def _database(store: str) -> AsyncIterator[str]:
    """Give where an empty database is, and take it away again."""
    if store == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/inbox.db"
    else:
        with postgres_server(fsync=True) as running:
            await asyncio.to_thread(upgrade, running.url)  # it runs a loop of its own
            yield running.url


async def _line(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """Read the next answer; whatever else is printed is the log."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        if line.startswith(b"{"):
            found: dict[str, Any] = json.loads(line)
            return found
    raise RuntimeError("the server has stopped")
