"""Real `parley serve` processes on one PostgreSQL that take signed webhooks, and who sends them."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.doubles.postgres import upgraded
from tests.doubles.postgres_server import postgres_server
from tests.scenario.gateway.machines import Machines, machines

_SECRET = "a secret of the benchmark"  # noqa: S105 (it opens nothing else)
_CONFIG = """
[hooks.ci]
scheme = "github"
secret_env = "CI_SECRET"
per_second = 0
message = "build {{ payload.number }} failed"
"""
_AGENTS = """
from agent_core import Agent, ScriptedModel, says
agent = Agent("agent", model=ScriptedModel(lambda request: says("noted")))
"""
THREADS = "SELECT count(*), count(*) FILTER (WHERE status = 'finished') FROM threads"


@asynccontextmanager
async def site(folder: Path, roles: list[str]) -> AsyncIterator[Machines]:
    """Start them on a server of their own, which waits for the disk as a real one does."""
    settings = {"CI_SECRET": _SECRET, "PARLEY_CONFIG": "parley.toml"}
    with postgres_server(fsync=True) as server:
        await upgraded(server.url)
        chance = random.Random(1)  # noqa: S311 (which door is asked)
        started = machines(
            folder,
            roles,
            chance,
            agents=_AGENTS,
            config=_CONFIG,
            settings=settings,
            database=server.url,
        )
        async with started as here:
            for door in here.doors:
                await door.ready()
            yield here


async def send(session: aiohttp.ClientSession, url: str, number: int) -> int:
    """Send a delivery, and give the status of its acknowledgement."""
    body = json.dumps({"number": number, "text": "x" * 1_000}).encode()
    signature = hmac.new(_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-Hub-Signature-256": f"sha256={signature}",
        "X-GitHub-Delivery": f"d-{number}",
        "Content-Type": "application/json",
    }
    async with session.post(f"{url}/hooks/ci", data=body, headers=headers) as answer:
        await answer.read()
        return answer.status
