"""A pipeline's runner, a real `parley serve` with the recipes' agent, and a person in Slack."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from channels.slack.double import SlackDouble
from channels.slack.double.records import Message
from channels.slack.double.workspace import Workspace
from tests.doubles.supervisor import ROOT
from tests.scenario.gateway.killable_server import KillableServer, killable_server

RECIPES = ROOT / "docs" / "recipes"
CLIENT = RECIPES / "parley-ci.sh"
PATIENCE = 60.0
"""Seconds for a step on a machine that is busy with other things."""


@dataclass(frozen=True)
class Ran:
    """How a step ended."""

    code: int
    out: str
    err: str


@dataclass
class Stage:
    """The runner's folder, the server, and Slack."""

    runner: Path
    server: KillableServer
    slack: SlackDouble
    team: Workspace
    seen: set[str] = field(default_factory=set)
    """Cards that somebody has looked at."""

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        """Give what a runner has set: nothing of ours but what the recipe says."""
        return {
            "PATH": os.environ["PATH"],
            "PARLEY_URL": self.server.url,
            "PARLEY_API_KEY": self.server.key,
            **more,
        }

    async def begin(self, command: Sequence[str], **more: str) -> asyncio.subprocess.Process:
        """Begin a step."""
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=self.runner,
            env=self.environ(more),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def run(self, command: Sequence[str], **more: str) -> Ran:
        """Run a step to its end."""
        return await ended(await self.begin(command, **more))

    async def card(self) -> Message:
        """Wait for the next card that otto gets by a direct message."""

        def look() -> Message | None:
            posted = self.team.posted(self.team.dm("UOTTO"))
            return next((one for one in posted if one.ts not in self.seen), None)

        found = await self.slack.until(look, within=PATIENCE)
        self.seen.add(found.ts)
        return found

    async def clicks(self, card: Message, action: str) -> None:
        """Let otto decide."""
        await self.team.clicks("UOTTO", card, f"parley:{action}")


async def told(process: asyncio.subprocess.Process, words: str) -> str:
    """Wait until a step says something on stderr, and give all that it has said."""
    assert process.stderr is not None
    said = ""
    async with asyncio.timeout(PATIENCE):
        while words not in said:
            line = await process.stderr.readline()
            assert line, f"it ended without {words!r}: {said}"
            said += line.decode()
    return said


async def ended(process: asyncio.subprocess.Process) -> Ran:
    """Wait for the end of a step."""
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    return Ran(process.returncode or 0, out.decode(), err.decode())


@asynccontextmanager
async def stage(
    folder: Path, *, agents: str = "", config: str = "", secrets: Mapping[str, str] | None = None
) -> AsyncIterator[Stage]:
    """Set it up as the recipes say: agent, parley.toml, Slack; and a repository's checkout."""
    async with SlackDouble(signing_secret="shhh") as slack:
        team = slack.workspace("T1", name="Acme", bot_token="xoxb-1")
        team.user("UOTTO", name="otto", email="otto@example.com")
        settings = {
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_SIGNING_SECRET": "shhh",
            "SLACK_API_URL": slack.api_url.rstrip("/"),
            "PARLEY_CONFIG": "parley.toml",
            **(secrets or {}),
        }
        agents = agents or (RECIPES / "release.py").read_text()
        config = config or (RECIPES / "parley.toml").read_text()
        async with killable_server(folder / "parley", agents=agents, settings=settings) as server:
            (server.folder / "parley.toml").write_text(config)
            slack.request_url = f"{server.url}/slack/events"
            await server.start()
            await server.ready()
            yield Stage(_checkout(folder / "repository"), server, slack, team)


def _checkout(runner: Path) -> Path:
    (runner / "ci").mkdir(parents=True)
    shutil.copy(CLIENT, runner / "ci" / "parley-ci.sh")
    deploy = runner / "deploy.sh"
    deploy.write_text("#!/bin/sh\necho deployed >>deployed.txt\n")
    deploy.chmod(0o755)
    return runner
