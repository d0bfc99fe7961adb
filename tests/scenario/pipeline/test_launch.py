"""`parley launch --wait` from a pipeline: exit codes, talk, and servers that come and go."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from tests.doubles.supervisor import ROOT
from tests.scenario.pipeline.stage import Stage, ended, stage, told


async def launch(here: Stage, *arguments: str) -> asyncio.subprocess.Process:
    """Begin a launch, as a job with Python would."""
    command = [sys.executable, "-P", "-m", "gateway", "launch", "release", "Deploy v1", "--wait"]
    return await here.begin([*command, *arguments], PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="1")


@pytest.mark.parametrize(("click", "code"), [("approve", 0), ("deny", 1)])
async def test_exit_code_is_what_the_person_says(click: str, code: int, tmp_path: Path) -> None:
    """Who is asked, and where, is told on stderr; stdout has the result alone."""
    async with stage(tmp_path) as here:
        step = await launch(here, "--timeout", "60")
        said = await told(step, "in: slack")
        await here.clicks(await here.card(), click)
        ran = await ended(step)

    assert (ran.code, ran.out.startswith("Go ahead")) == (code, code == 0)
    assert "launched th_" in said
    assert "  asked: release-manager\n  in: slack" in said
    assert "answered by " in ran.err
    assert ("did not give leave" in ran.err) == (code == 1)


async def test_what_still_waits_exits_3_and_can_be_taken_up_again(tmp_path: Path) -> None:
    """By the same key; `--json` tells the outcome in a word."""
    async with stage(tmp_path) as here:
        first = await ended(
            await launch(here, "--timeout", "4", "--json", "--idempotency-key", "k")
        )
        card = await here.card()
        again = await launch(here, "--json", "--idempotency-key", "k", "--metadata", "a=1")
        refused = await ended(again)
        second = await launch(here, "--json", "--idempotency-key", "k")
        await here.clicks(card, "deny")
        ran = await ended(second)

    assert first.code == 3
    assert json.loads(first.out)["outcome"] in {"waiting", "running", "queued"}
    assert (refused.code, "another request" in refused.err) == (1, True)
    assert (ran.code, json.loads(ran.out)["outcome"]) == (1, "denied")
    assert json.loads(ran.out)["status"] == "finished"
    assert json.loads(ran.out)["id"] == json.loads(first.out)["id"]


async def test_it_waits_through_a_restart_and_launches_when_the_server_comes(
    tmp_path: Path,
) -> None:
    """No server at first: it is waited for. Then it is killed, and back."""
    async with stage(tmp_path) as here:
        await here.server.stop(signal.SIGTERM)
        step = await launch(here)
        await here.server.start()
        card = await here.card()
        await told(step, "in: slack")
        await here.server.stop(signal.SIGKILL)
        await here.server.start()
        await here.server.ready()
        await here.clicks(card, "approve")
        ran = await ended(step)

    assert (ran.code, ran.out) == (0, "Go ahead: Deploy v1\n")


async def test_timeout_needs_wait(tmp_path: Path) -> None:
    """Wrong usage is 2, and nothing is sent."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "gateway", "launch", "a", "b", "--timeout", "1"),
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    ran = await ended(process)

    assert (ran.code, ran.out) == (2, "")
    assert "--timeout goes with --wait" in ran.err
