"""The release assistant: its roll-outs wait for a lead, and survive a crash in the middle.

A file to copy from. `roll_back` is idempotent: after a crash it runs again with the same key, and
leaves alone the machines that were switched before. No process and no page here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from agent_core import Agent, MaxSteps, MaxTokens, ToolContext, contact_human, tool
from gateway.playground.script import model_for, release_reply

FLEET = Path("fleet.txt")
"""What stands for the outside world: a line for each machine that was switched, by which call."""
MACHINES = ("berlin-1", "berlin-2", "dublin-1", "dublin-2")
_PACE = float(os.environ.get("PLAYGROUND_PACE", "1"))
"""Seconds that it takes to switch a machine back: enough to kill the server meanwhile."""


@tool
def check_pipeline(version: str) -> dict[str, str | int]:
    """Look up whether a version's tests have passed, and which version runs now."""
    return {"version": version, "tests": "green", "running": running(), "machines": len(MACHINES)}


@tool(approval=True, approvers=["lead"], idempotent=True)
async def deploy(ctx: ToolContext, version: str) -> str:
    """Put a version on every machine."""
    count = await _switch(ctx, version, pause=_PACE / 4)
    return f"{version} runs on {len(MACHINES)} machines ({count} switched)."


@tool(approval=True, approvers=["lead"], idempotent=True)
async def roll_back(ctx: ToolContext, version: str) -> str:
    """Bring an earlier version back on every machine, one after the other."""
    count = await _switch(ctx, version, pause=_PACE)
    return f"{version} is back on {len(MACHINES)} machines ({count} switched in this run)."


async def _switch(ctx: ToolContext, version: str, *, pause: float) -> int:
    """Switch each machine that this call has not switched before."""
    done = {line.split()[0] for line in _fleet() if line.endswith(ctx.idempotency_key)}
    for machine in MACHINES:
        if machine in done:
            continue
        await asyncio.sleep(pause)
        _note(f"{machine} {version} {ctx.idempotency_key}")
    return len(MACHINES) - len(done)


def _note(line: str) -> None:
    with FLEET.open("a") as fleet:
        fleet.write(f"{line}\n")


def running() -> str:
    """Give the version that was rolled out last."""
    return next((line.split()[1] for line in reversed(list(_fleet()))), "2.3.9")


def _fleet() -> Iterator[str]:
    yield from FLEET.read_text().splitlines() if FLEET.exists() else ()


release = Agent(
    name="release",
    instructions=(
        "You release software for a small team. Asked to release a version, call check_pipeline, "
        "then deploy. Told that a workflow failed, call check_pipeline for 2.3.9, then roll_back "
        "to 2.3.9. A lead decides about both; do what they say, and report in one sentence."
    ),
    tools=[check_pipeline, deploy, roll_back, contact_human],
    model=model_for(release_reply),
    limits=MaxSteps(12) | MaxTokens(50_000),
)
