"""`serve`: the parts of each role, started in order and stopped in reverse."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from agent_core.thread.events import Millis
from gateway.control.keys import new_key
from gateway.server import Role, _background, serve
from gateway.settings.environment import Settings
from storage.sqlite import SqliteStore
from storage.values import Wish

AGENTS = """
from agent_core import Agent, ScriptedModel, says

echo = Agent("echo", model=ScriptedModel([says("done")]))
"""
HELLO = {"agent": "echo", "text": "hello"}


class Served:
    """A server that runs, and how to reach it."""

    def __init__(self, task: asyncio.Task[None], port: int, key: str) -> None:
        """Note where it is."""
        self.task = task
        self.url = f"http://127.0.0.1:{port}"
        self.headers = {"Authorization": f"Bearer {key}"}

    async def launch(self) -> str:
        """Launch a thread, wait a moment, and give its status."""
        async with (
            aiohttp.ClientSession(headers=self.headers) as session,
            session.post(f"{self.url}/v1/threads?wait=0.5", json=HELLO) as response,
        ):
            return str((await response.json())["status"])


@asynccontextmanager
async def served(
    folder: Path, role: Role, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Served]:
    """Serve on a free port, until the test is done or sends a signal."""
    agents = folder / "agents_here.py"
    agents.write_text(AGENTS)
    text, row = new_key("test", ["admin"], now=Millis(0))
    store = SqliteStore(folder / "parley.db")
    await store.open()
    await store.add_key(row)
    await store.close()
    url = f"sqlite:///{folder}/parley.db"
    settings = Settings.model_validate({"database_url": url, "port": 0, "agents": (str(agents),)})
    caplog.set_level(logging.INFO, logger="parley.server")
    task = asyncio.create_task(serve(settings, role))
    try:
        yield Served(task, await _port(task, caplog) if role != "worker" else 0, text)
    finally:
        if not task.done():
            os.kill(os.getpid(), signal.SIGTERM)
        async with asyncio.timeout(10):
            await asyncio.wait([task])


async def _port(task: asyncio.Task[None], caplog: pytest.LogCaptureFixture) -> int:
    async with asyncio.timeout(10):
        while True:
            for record in caplog.records:
                if record.message == "listening":
                    return int(record.__dict__["port"])
            if task.done():
                task.result()
            await asyncio.sleep(0.005)


async def test_whole_server_works_until_it_is_told_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SIGTERM ends it in order, without an error."""
    async with served(tmp_path, "all", caplog) as server:
        assert await server.launch() == "finished"

    assert server.task.done()
    server.task.result()


async def test_web_role_takes_threads_and_leaves_them_to_workers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What it took is done by a worker, which listens nowhere."""
    async with served(tmp_path, "web", caplog) as server:
        assert await server.launch() == "queued"
    store = SqliteStore(tmp_path / "parley.db", shared=True)
    caplog.clear()
    async with served(tmp_path, "worker", caplog):
        await store.open()
        async with asyncio.timeout(10):
            while True:
                (row,) = (await store.threads(Wish())).items
                if row.status == "finished":
                    break
                await asyncio.sleep(0.01)
        await store.close()

    assert "listening" not in [record.message for record in caplog.records]


@pytest.mark.parametrize("error", [RuntimeError("broke"), None])
async def test_part_that_ends_stops_the_rest(error: Exception | None) -> None:
    """By itself or with an error, which is then raised: nothing goes on half."""

    async def part() -> None:
        await asyncio.sleep(0)
        if error is not None:
            raise error

    stop = asyncio.Event()

    async def run() -> None:
        async with _background(part(), stop), asyncio.timeout(5):
            await stop.wait()

    if error is None:
        await run()
    else:
        with pytest.raises(RuntimeError, match="broke"):
            await run()
