"""A hook's audience is told, not only asked: the question comes to them in Slack."""

from __future__ import annotations

import json
from pathlib import Path

import aiohttp

from tests.scenario.pipeline.stage import Stage, stage
from tests.unit.channels.webhook.sender import SECRET, sign

AGENTS = '''
from agent_core import Agent, ScriptedModel, call, calls, says, tool

@tool(approval=True)
async def roll_back(run: str) -> str:
    """Undo a release."""
    with open("ledger.txt", "a") as ledger:
        ledger.write(run + "\\n")
    return f"Rolled back {run}."

def rule(request):
    last = request.messages[-1]
    if last["role"] == "tool":
        return says(last["content"])
    return calls(call("roll_back", run=last["content"].split()[-1]))

agent = Agent("agent", tools=[roll_back], model=ScriptedModel(rule))
'''
CONFIG = """
[[people]]
name = "otto"
slack = "T1:UOTTO"
roles = ["approver"]

[hooks.ci]
scheme = "github"
secret_env = "CI_SECRET"
message = "failed: {{ payload.run }}"
thread_key = "{{ payload.run }}"
audience = ["approver"]
"""


async def sends(here: Stage, payload: object, delivery: str) -> str:
    """Send a signed delivery, and give its thread."""
    body = json.dumps(payload).encode()
    headers = {**sign("github", body), "x-github-delivery": delivery}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{here.server.url}/hooks/ci", data=body, headers=headers) as answer,
    ):
        assert answer.status == 202, await answer.text()
        return str((await answer.json())["thread"])


async def finished(here: Stage, thread: str) -> str:
    """Wait for a thread's end, and give its result."""
    url = f"{here.server.url}/v1/threads/{thread}?wait=30&until=end"
    headers = {"Authorization": f"Bearer {here.server.key}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        got = await answer.json()
        assert got["status"] == "finished", got
        return str(got["result"])


async def test_approver_is_asked_in_slack_and_their_click_resumes_the_thread(
    tmp_path: Path,
) -> None:
    """Nobody in Slack had a part in the thread before; a copy of the delivery asks nobody anew."""
    secrets = {"CI_SECRET": SECRET.decode()}
    async with stage(tmp_path, agents=AGENTS, config=CONFIG, secrets=secrets) as here:
        thread = await sends(here, {"run": "run-7"}, "d-1")
        card = await here.card()
        copy = await sends(here, {"run": "run-7"}, "d-1")
        await here.clicks(card, "approve")
        result = await finished(here, thread)

        asked = [
            one
            for one in here.team.posted(here.team.dm("UOTTO"))
            if "roll_back" in f"{one.text} {one.past_blocks} {one.blocks}"
        ]
        assert (copy, len(asked)) == (thread, 1)
        assert (result, here.server.lines("ledger.txt")) == ("Rolled back run-7.", ["run-7"])
