"""Two real processes on one PostgreSQL (its double): each delivery three times, in any order."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import aiohttp
import pytest

from tests.scenario.gateway.machines import Machines, machines
from tests.unit.channels.webhook.sender import SECRET, code

AGENTS = '''
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, says, tool

@tool(idempotent=True)
async def deploy(ctx: ToolContext, number: str) -> str:
    """Start a deployment, and wait for its end."""
    await ctx.pause_for("event", {"prompt": "Deployment " + number}, key="deploy/" + number)

def rule(request):
    last = request.messages[-1]
    if last["role"] == "tool":
        return says(last["content"])
    return calls(call("deploy", number=last["content"].split()[-1]))

agent = Agent("agent", tools=[deploy], model=ScriptedModel(rule))
'''
CONFIG = """
[hooks.ci]
scheme = "github"
secret_env = "CI_SECRET"
when = "payload.begin is defined"
message = "deploy {{ payload.begin }}"

[hooks.cd]
scheme = "github"
secret_env = "CI_SECRET"
event_key = "deploy/{{ payload.done }}"
"""
NUMBERS = range(6)


async def sends(here: Machines, hook: str, payload: dict[str, str], delivery: str) -> int:
    """Send one copy of a delivery to one of the machines."""
    body = json.dumps(payload).encode()
    headers = {"x-hub-signature-256": f"sha256={code(body, SECRET)}", "x-github-delivery": delivery}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{here.url}/hooks/{hook}", data=body, headers=headers) as answer,
    ):
        return answer.status


@pytest.mark.timeout(180)
async def test_each_delivery_three_times_in_any_order_to_two_processes_has_one_effect(
    tmp_path: Path,
) -> None:
    """What begins a thread, and what resumes it by its key: some events come before the question.

    A process is killed in between; what it had acknowledged is there.
    """
    chance = random.Random(20261116)  # noqa: S311 (an order, no secret)
    settings = {"CI_SECRET": SECRET.decode(), "PARLEY_CONFIG": "parley.toml"}
    stage = machines(
        tmp_path / "m", ["all", "all"], chance, agents=AGENTS, config=CONFIG, settings=settings
    )
    async with stage as here:
        for machine in here.all:
            await machine.ready()
        copies = [
            (hook, payload, f"{hook}-{number}")
            for number in NUMBERS
            for hook, payload in (("ci", {"begin": str(number)}), ("cd", {"done": str(number)}))
            for _ in range(3)
        ]
        chance.shuffle(copies)
        half = len(copies) // 2
        statuses = await asyncio.gather(*(sends(here, *one) for one in copies[:half]))
        await here.kill_one()
        for machine in here.all:
            await machine.ready()
        statuses += await asyncio.gather(*(sends(here, *one) for one in copies[half:]))
        await here.at_rest()
        threads = await here.rows("SELECT status, summary::text FROM threads")
        answered = await here.rows("SELECT status FROM questions")

    assert set(statuses) == {202}
    assert [status for status, _ in threads] == ["finished"] * len(NUMBERS)
    done = sorted(json.loads(json.loads(summary)["result"])["done"] for _, summary in threads)
    assert done == [str(number) for number in NUMBERS]
    assert answered == [("answered",)] * len(NUMBERS)
