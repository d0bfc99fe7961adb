"""`kill -9` between the commit and the send, and between the send and its record.

The real server on SQLite, a real receiver: everything arrives, in order, and what arrives twice has
the same id both times.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.scenario.callback.receiver import Receiver, receiver
from tests.scenario.gateway.killable_server import KillableServer, killable_server

pytestmark = pytest.mark.timeout(120)

AGENTS = '''
from agent_core import Agent, ScriptedModel, call, calls, contact_human, says

def decide(request):
    """Ask, then tell what the answer was."""
    if request.messages[-1]["role"] == "user":
        return calls(call("contact_human", question="Which colour?"))
    return says("done: " + str(request.messages[-1]["content"]))

desk = Agent("desk", tools=[contact_human], model=ScriptedModel(decide))
'''
ALLOW = "PARLEY_CALLBACK_ALLOW"


async def launch(server: KillableServer, url: str) -> None:
    """Launch with a callback; whoever is cut off asks again, with the same key."""
    body = {"agent": "desk", "text": "paint it", "callback_url": url}
    headers = {"Authorization": f"Bearer {server.key}", "Idempotency-Key": "one"}
    async with aiohttp.ClientSession(headers=headers) as session:
        while True:
            try:
                async with session.post(f"{server.url}/v1/threads", json=body) as answer:
                    assert answer.status in {200, 201}, await answer.text()
                    return
            except aiohttp.ClientError:
                await asyncio.sleep(0.02)  # another process: there is nothing else to wait for


async def tell(server: KillableServer, program: Receiver, failpoint: str) -> None:
    """Launch, let the server die at a point and start again, and answer by the response URL."""
    await server.start(failpoint)
    launching = asyncio.create_task(launch(server, program.url))
    assert await server.ended() == -signal.SIGKILL, server.log
    await server.start()
    await server.ready()
    await launching
    asked = (await program.until(1))[0].json["data"]["question"]
    async with (
        aiohttp.ClientSession() as session,
        session.post(asked["response_url"], json={"value": "red"}) as answer,
    ):
        assert answer.status == 200, await answer.text()
    async with asyncio.timeout(30), program.came:
        await program.came.wait_for(lambda: "thread.finished" in {one.type for one in program.got})


@pytest.mark.parametrize(
    "failpoint",
    ["commit:after:1:QuestionAsked", "end_deliveries:before:1", "end_deliveries:after:1"],
)
async def test_everything_arrives_in_order_whenever_the_server_dies(
    failpoint: str, tmp_path: Path
) -> None:
    """At least once: a second copy is known by its id, and says the same."""
    async with receiver() as program:
        settings = {ALLOW: f"127.0.0.1:{program.port}"}
        async with killable_server(tmp_path / "x", agents=AGENTS, settings=settings) as server:
            await tell(server, program, failpoint)

        bodies = {one.id: one.json for one in program.got}
        assert [one["type"] for one in bodies.values()] == [
            "question.asked",
            "question.settled",
            "thread.finished",
        ]
        assert bodies[program.got[-1].id]["data"]["thread"]["result"] == "done: red"
        assert {(one.id, one.type) for one in program.got} == {
            (name, body["type"]) for name, body in bodies.items()
        }
