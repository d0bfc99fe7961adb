"""A hook of a real `parley serve`, which is killed and comes back."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import aiohttp

from tests.scenario.gateway.killable_server import KillableServer, killable_server
from tests.unit.channels.webhook.samples import body
from tests.unit.channels.webhook.sender import code

AGENTS = """
from agent_core import Agent, ScriptedModel, says

release = Agent(
    "release", model=ScriptedModel(lambda request: says(str(request.messages[-1]["content"])[:12]))
)
"""
TOML = """
[hooks.ci]
preset = "github-ci"
secret_env = "CI_OLD,CI_SECRET"
"""
SETTINGS = {"CI_SECRET": "hunter2", "CI_OLD": "before", "PARLEY_LOG": "info/json"}
RUN = body("github-ci.workflow_run")


async def call(here: KillableServer, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Call the server, as soon as it answers; give the status and the JSON."""
    headers = {"Authorization": f"Bearer {here.key}"} if path.startswith("/v1") else {}
    headers |= more.pop("headers", {})
    async with asyncio.timeout(20), aiohttp.ClientSession() as session:
        while True:
            try:
                url = f"{here.url}{path}"
                async with session.request(method, url, headers=headers, **more) as response:
                    return response.status, await response.json()
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.02)


async def deliver(here: KillableServer, secret: bytes = b"hunter2") -> Any:  # noqa: ANN401 (any JSON)
    """Send the same failed run, as GitHub does."""
    headers = {
        "X-GitHub-Event": "workflow_run",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": f"sha256={code(RUN, secret)}",
        "Content-Type": "application/json",
    }
    return await call(here, "POST", "/hooks/ci", data=RUN, headers=headers)


async def test_failed_run_becomes_a_thread_once_though_the_server_dies(tmp_path: Path) -> None:
    """Acknowledged is durable: killed at once, and sent again to the next one, it is there once."""
    folder = tmp_path / "site"
    async with killable_server(folder, agents=AGENTS, settings=SETTINGS) as here:
        (folder / "parley.toml").write_text(TOML)
        await here.start()
        refused = await deliver(here, secret=b"wrong")
        first = await deliver(here)
        assert await here.stop() == -signal.SIGKILL
        await here.start()
        again = await deliver(here, secret=b"before")
        thread = first[1]["thread"]
        _, shown = await call(here, "GET", f"/v1/threads/{thread}?wait=20")
        _, listed = await call(here, "GET", "/v1/threads")

    assert refused[0] == 401
    assert first == again == (202, {"effect": "taken", "thread": thread})
    assert (shown["status"], shown["result"]) == ("finished", "The workflow")
    assert shown["origin"] == "webhook:ci:acme/shop/runs/9876543210"
    assert [one["id"] for one in listed["items"]] == [thread]
    assert "the signature does not fit" in here.log
    assert "hunter2" not in here.log


async def test_server_with_a_hook_that_cannot_work_does_not_start(tmp_path: Path) -> None:
    """Exit 2, and what is wrong by its place."""
    folder = tmp_path / "site"
    settings = {**SETTINGS, "CI_OLD": ""}
    async with killable_server(folder, agents=AGENTS, settings=settings) as here:
        (folder / "parley.toml").write_text(TOML + 'message = "{{ nothing }}"\n')
        await here.start()
        ended = await here.ended()

    assert ended == 2
    assert "hooks.ci.secret_env: the environment variable CI_OLD is not set" in here.log
    assert "hooks.ci.message: there is no nothing here, only payload and headers" in here.log
