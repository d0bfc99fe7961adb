"""A real `parley serve`: a hook whose operator named a callback, and the operator's commands."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.doubles.supervisor import run_parley
from tests.scenario.callback.receiver import receiver
from tests.scenario.callback.test_kills import AGENTS
from tests.scenario.gateway.killable_server import KillableServer, killable_server

pytestmark = pytest.mark.timeout(120)

TOML = """
[hooks.ci]
scheme = "bearer"
secret_env = "CI_SECRET"
message = "{{{{ payload.text }}}}"
callback_url = "{url}"
"""
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


async def parley(server: KillableServer, *arguments: str) -> Any:  # noqa: ANN401 (any JSON)
    """Run a command as the operator would, and give its JSON."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    ours = {"PARLEY_URL": server.url, "PARLEY_API_KEY": server.key}
    ran = await asyncio.to_thread(
        run_parley, [*arguments, "--json"], server.folder, kept | ours, seconds=30
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


async def test_a_hooks_callback_hears_and_answers_and_operators_replay(tmp_path: Path) -> None:
    """The payload names another address, and nothing goes there; 410 and back, by commands."""
    async with receiver() as program:
        settings = {
            "PARLEY_CALLBACK_ALLOW": f"127.0.0.1:{program.port}",
            "PARLEY_CALLBACK_SECRET": SECRET,
            "CI_SECRET": "hook secret",
        }
        async with killable_server(tmp_path / "x", agents=AGENTS, settings=settings) as server:
            (server.folder / "parley.toml").write_text(TOML.format(url=program.url))
            await server.start(lease_ms=0)
            await server.ready()
            async with aiohttp.ClientSession() as session:
                program.answers(410)
                payload = {"text": "paint", "callback_url": "https://evil.example/"}
                bearer = {"Authorization": "Bearer hook secret"}
                async with session.post(
                    f"{server.url}/hooks/ci", json=payload, headers=bearer
                ) as answer:
                    assert answer.status == 202, await answer.text()
                await program.until(1)
                listed = await _disabled(server)
                await parley(server, "callbacks", "enable", program.url)
                replayed = await parley(server, "callbacks", "replay")
                asked = (await program.until(2))[1]
                url = asked.json["data"]["question"]["response_url"]
                async with session.post(url, json={"value": "red"}) as answer:
                    assert answer.status == 200, await answer.text()
                got = await program.until(4)

        assert (listed["status"], listed["failed"]) == ("disabled", 1)
        assert replayed == {"replayed": 1}
        assert asked.id == got[0].id
        asked.verify(SECRET)
        assert [one.type for one in got[2:]] == ["question.settled", "thread.finished"]
        assert got[2].json["data"]["question"]["answered_by"] == "callback:127.0.0.1"
        assert "evil.example" not in server.log
        assert program.url not in server.log
        assert "callback endpoint disabled" in server.log


async def _disabled(server: KillableServer) -> dict[str, Any]:
    """Ask until the endpoint is listed with what it has missed."""
    async with asyncio.timeout(30):
        while True:
            items = (await parley(server, "callbacks", "list"))["items"]
            if items and items[0]["failed"]:
                return dict(items[0])
