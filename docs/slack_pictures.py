"""Makes the pictures of docs/slack.md: a real conversation in the Slack double's page.

Run it after a change of the cards or the page, where Chromium and an emoji font are installed:
.venv/bin/python docs/slack_pictures.py
"""  # noqa: INP001 - run by its path; docs is no package

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from channels.slack.double import SlackDouble
from channels.slack.double.workspace import Workspace

DOCS = Path(__file__).resolve().parent
PORT = "18473"

AGENTS = '''
from agent_core import Agent, ScriptedModel, ToolContext, call, calls, says, tool

@tool(approval=True, approvers=["otto"])
async def refund(ctx: ToolContext, order: str, amount: float, reason: str) -> str:
    """Pay the customer back."""
    return f"Refunded {amount:.2f} EUR for order {order}."

def decide(request):
    if any("tool_calls" in message for message in request.messages):
        return says("Done: **59.90 EUR** for order `1042` are on their way back to the customer.")
    return calls(call("refund", order="1042", amount=59.9, reason="arrived broken"))

desk = Agent("desk", tools=[refund], model=ScriptedModel(decide))
'''
PEOPLE = '[[people]]\nname = "otto"\nslack = "T1:UOTTO"\n'


async def main() -> None:
    """Tell the story, and take a picture before and after the decision."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:  # noqa: S106 (a double)
        team = _furnish(slack)
        slack.request_url = f"http://127.0.0.1:{PORT}/slack/events"
        with tempfile.TemporaryDirectory() as folder:
            server = await _serve(Path(folder), slack.api_url.rstrip("/"))
            try:
                await _tell(slack, team)
            finally:
                server.terminate()
                await server.wait()


def _furnish(slack: SlackDouble) -> Workspace:
    team = slack.workspace("T1", name="Acme", bot_token="xoxb-1", bot_name="Parley")  # noqa: S106 (a double)
    team.user("UANN", name="ann", real_name="Ann Archer")
    team.user("UOTTO", name="otto", real_name="Otto Olsen")
    team.channel("C1", name="refunds", members=["UANN", "UOTTO", "UBOT"])
    return team


async def _serve(folder: Path, api_url: str) -> asyncio.subprocess.Process:
    (folder / "agents.py").write_text(AGENTS)
    (folder / "parley.toml").write_text(PEOPLE)
    environ = {
        **os.environ,
        "PYTHONPATH": str(DOCS.parent),
        "PARLEY_AGENTS": "./agents.py",
        "PARLEY_PORT": PORT,
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_SIGNING_SECRET": "shhh",
        "SLACK_API_URL": api_url,
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", "serve", cwd=folder, env=environ
    )


async def _tell(slack: SlackDouble, team: Workspace) -> None:
    slack.retries.delays = (2.0, 5.0, 10.0)  # the server is still starting
    text = "<@UBOT> please refund order 1042, it arrived broken"
    root = await team.says("UANN", "C1", text)
    card = (await slack.until(lambda: team.posted("C1", root.ts), within=30))[0]
    where = f"{slack.url}/?team=T1&as=UOTTO&channel=C1&thread={root.ts}"
    await _picture(where, DOCS / "slack-question.png")
    await team.clicks("UOTTO", card, "parley:approve")
    await slack.until(lambda: len(team.posted("C1", root.ts)) > 1, within=30)
    await _picture(where, DOCS / "slack-settled.png")


async def _picture(url: str, file: Path) -> None:
    await asyncio.to_thread(
        subprocess.run,
        [
            *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-sync", "--no-first-run"),
            *("--window-size=1100,720", "--timeout=5000"),
            *(f"--screenshot={file}", url),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )


if __name__ == "__main__":
    asyncio.run(main())
