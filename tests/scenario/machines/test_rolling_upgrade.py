"""A rolling restart: an older version, the upgrade and today's code on one database, at work."""

from __future__ import annotations

import asyncio
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from storage.migrations.upgrades import current, upgrade
from storage.migrations.versions import HEAD
from tests.doubles.postgres import postgres_url
from tests.doubles.supervisor import ROOT, Supervisor, supervisor
from tests.scenario.gateway.cli_installation import free_port
from tests.scenario.gateway.killable_server import KillableServer, new_key, prepare, until_the_end
from tests.scenario.gateway.machines import LEASE_MS, Machines, environ_of, machine
from tests.scenario.machines.crew import AGENTS, Crew

OLD, OLD_SCHEMA = "472a7d0a62428cf17d0c6355d8e3b3ca5adf246b", "0005"
"""An earlier commit of ours, and the schema that it knows."""


def _git(*words: str) -> subprocess.CompletedProcess[bytes]:
    git = shutil.which("git") or "git"
    return subprocess.run([git, "-C", str(ROOT), *words], capture_output=True, check=False)


def _has_history() -> bool:
    return _git("cat-file", "-e", f"{OLD}^{{commit}}").returncode == 0


pytestmark = [
    pytest.mark.skipif(not _has_history(), reason="the older code is not in this clone's history"),
    pytest.mark.timeout(120),
]


def _take_out(folder: Path) -> Path:
    """Take the older code out of the history."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", OLD).stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


class ColdStart(Supervisor):
    """Starts the older code, which nobody has warmed up."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder, self._environ = folder, environ
        self._process: asyncio.subprocess.Process | None = None

    async def start(
        self, arguments: Sequence[str], *, environ: Mapping[str, str] | None = None, out: str = ""
    ) -> int:
        """Run `parley` with these arguments; give its process id."""
        with (
            Path(out or os.devnull).open("w") as said,  # noqa: ASYNC230 (it is ours alone)
            (self._folder / "server.log").open("a") as log,
        ):
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gateway", *arguments),
                cwd=self._folder,
                env={**self._environ, **(environ or {})},
                stdout=said,
                stderr=log,
            )
        return self._process.pid

    async def ended(self) -> int:
        """Wait for the end of what was started, and give its exit code."""
        assert self._process is not None
        return await self._process.wait()


@asynccontextmanager
async def _older(folder: Path, database: str) -> AsyncIterator[Crew]:
    """Start two processes of the older code."""
    shared, old = folder / "shared", await asyncio.to_thread(_take_out, folder / "old")
    prepare(shared, AGENTS)
    environ = {**environ_of(database), "PYTHONPATH": str(old)}
    key = await new_key(shared, ColdStart(shared, environ))
    site = Machines(shared, database, key, random.Random(3))  # noqa: S311
    async with AsyncExitStack() as stack:
        for _ in range(2):
            port = free_port()
            cold = ColdStart(shared, {**environ, "PARLEY_PORT": str(port)})
            server = until_the_end(KillableServer(shared, port, key, cold))
            site.doors.append(await stack.enter_async_context(server))
            await site.doors[-1].start(lease_ms=LEASE_MS)
        await asyncio.gather(*(door.ready() for door in site.doors))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        yield Crew(site, session)


async def _echo_for_ever(crew: Crew, done: list[str], turn: asyncio.Lock) -> None:
    """Be a customer who notices nothing of it."""
    for number in range(1_000_000):
        async with turn:
            thread = await crew.launch("echo", f"word-{number}")
            assert (await crew.status(thread, "finished"))["result"] == f"word-{number}"
        done.append(thread)


async def test_threads_wait_and_go_on_across_a_rolling_restart(tmp_path: Path) -> None:
    """Begun by either version, answered at either, also after the older one is gone.

    The tables are upgraded under the older code, which goes on; who works all the while notices
    nothing; and the chain of each thread fits, whoever has written it. That customer comes to the
    newer doors as soon as there are any: code of that age can't show what newer code has moved.
    """
    async with postgres_url() as database:
        await asyncio.to_thread(upgrade, database, OLD_SCHEMA)
        async with _older(tmp_path, database) as crew:
            done: list[str] = []
            turn = asyncio.Lock()
            busy = asyncio.create_task(_echo_for_ever(crew, done, turn))
            waiting = [await crew.launch("clerk", f"old-{number}") for number in range(3)]
            asked = [(await crew.status(one, "waiting"))["questions"][0] for one in waiting]

            await asyncio.to_thread(upgrade, database)
            await _goes_on(busy, done)
            site = crew.server
            await turn.acquire()
            async with machine(site, "all", environ_of(database)) as new:
                await new.ready()
                older, site.doors = site.doors, [new]
                turn.release()
                await _answer(crew, waiting[0], asked[0]["id"])
                waiting.append(await crew.launch("clerk", "new"))
                asked.append((await crew.status(waiting[3], "waiting"))["questions"][0])
                at_old = Crew(replace(site, doors=older), crew.session)
                await _answer(at_old, waiting[1], asked[1]["id"])

                for one in older:
                    assert await one.stop(signal.SIGTERM) == 0
                for thread, question in zip(waiting[2:], asked[2:], strict=True):
                    await _answer(crew, thread, question["id"])
                for thread in waiting:
                    assert (await crew.status(thread, "finished"))["result"] == "thanks"
                await _goes_on(busy, done)
                busy.cancel()
                await site.at_rest()
                async with supervisor(site.folder, environ_of(database)) as today:
                    await today.start(["audit", "verify"], out=os.devnull)
                    assert await today.ended() == 0
        assert await asyncio.to_thread(current, database) == HEAD


async def _answer(crew: Crew, thread: str, question: str) -> None:
    """Answer, and see that it counts, once."""
    await crew.call("POST", f"/v1/questions/{question}/answer", {"value": "go on"})
    types = [event["type"] for event in await crew.events(thread)]
    assert types.count("QuestionAnswered") == 1


async def _goes_on(busy: asyncio.Task[None], done: list[str]) -> None:
    """Wait until three more threads have been through."""
    wanted = len(done) + 3
    async with asyncio.timeout(30):
        while len(done) < wanted:
            assert not busy.done(), busy.exception()
            await asyncio.sleep(0.02)
