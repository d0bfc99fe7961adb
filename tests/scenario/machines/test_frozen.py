"""A machine that was frozen past its lease writes nothing and sends nothing when it thaws."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from tests.scenario.machines.crew import Crew, crew

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

pytestmark = pytest.mark.timeout(90)


class Receiver:
    """A program that is told by callback what happens."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._moved = asyncio.Event()
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        """Take a message."""
        self.heard.append((await request.json())["type"])
        self._moved.set()
        return web.Response(status=204)

    async def until(self, count: int) -> None:
        """Wait until so many have come."""
        async with asyncio.timeout(30):
            while len(self.heard) < count:
                self._moved.clear()
                await self._moved.wait()


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """Serve a receiver on loopback."""
    made = Receiver()
    app = web.Application()
    app.router.add_post("/", made.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    try:
        yield made
    finally:
        await runner.cleanup()


async def test_frozen_worker_and_frozen_sender_do_nothing_when_they_thaw(tmp_path: Path) -> None:
    """Real signals, in the middle of a tool's call and between the claim of a message and its post.

    What the tool did can't be undone, but its result is refused: a person is asked, because nobody
    knew. The message is posted by somebody else, and once.
    """
    async with receiver() as program:
        settings = {
            "PARLEY_CALLBACK_ALLOW": program.url.removeprefix("http://").rstrip("/"),
            "PARLEY_CALLBACK_SECRET": SECRET,
        }
        async with crew(tmp_path, "web worker worker", settings=settings) as site:
            await _freeze_in_a_tool(site)
            await _freeze_before_a_post(site, program)


async def _freeze_in_a_tool(site: Crew) -> None:
    thread = await site.launch("depot", "crate")
    worker = await site.written("begin crate")
    os.kill(worker, signal.SIGSTOP)
    asked = await site.status(thread, "waiting")  # by who took it over: what became of the call?
    before = await site.events(thread)
    os.kill(worker, signal.SIGCONT)
    assert await _ended_or_stopped(site, "crate") == worker
    other = await site.launch("depot", "box")  # and it is of use again
    await site.status(other, "finished")

    assert await site.events(thread) == before
    assert "lease lost" in site.server.log or "fenced" in site.server.log

    [question] = asked["questions"]
    answer = {"value": "it_happened"}
    await site.call("POST", f"/v1/questions/{question['id']}/answer", answer)
    await site.status(thread, "finished")
    results = [event["type"] for event in await site.events(thread) if "Tool" in event["type"]]
    assert results.count("ToolStarted") == 1
    assert len([line for line in site.server.lines("ledger.txt") if "begin crate" in line]) == 1


async def _ended_or_stopped(site: Crew, what: str) -> int:
    """Wait for the end of what the frozen one was at; it may have been told to stop first."""
    lines = [asyncio.create_task(site.written(f"{how} {what}")) for how in ("end", "stopped")]
    done, late = await asyncio.wait(lines, return_when=asyncio.FIRST_COMPLETED)
    for one in late:
        one.cancel()
    return done.pop().result()


async def _freeze_before_a_post(site: Crew, program: Receiver) -> None:
    _, first, second = site.server.all
    assert await first.stop() == await second.stop() == -signal.SIGKILL
    await first.start("claim_deliveries:after:1", lease_ms=2_000, apart=True, freezes=True)
    await site.launch("echo", "hello", callback_url=program.url)
    await first.frozen()
    assert program.heard == []

    await second.start(lease_ms=2_000)
    await program.until(1)
    await site.server.at_rest()
    os.kill(first.pid, signal.SIGCONT)
    await second.stop()
    await site.launch("echo", "again", callback_url=program.url)  # the thawed one is alive
    await program.until(2)
    await site.server.at_rest()

    assert program.heard == ["thread.finished", "thread.finished"]
