"""Who takes part, and how one of them is run: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.venvs import peer_python

ROOT = Path(__file__).parents[2]
_PINS = Path(__file__).parent / "peers.txt"
_TIMEOUT_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One contender in one of its ways."""

    name: str
    module: str
    way: str = ""
    peer: str = ""
    """The environment to run in; ours when empty."""

    def python(self) -> str:
        """Find the interpreter, installing the peer on its first use."""
        return str(peer_python(self.peer, _PINS)) if self.peer else sys.executable


_LANGGRAPH = "langgraph-checkpoint-sqlite"
OURS = Entrant(name="Parley", module="contender_parley")
FLOOR = Entrant(name="floor: rows by hand", module="contender_floor")
DEFAULT = Entrant(name="LangGraph", module="contender_langgraph", way="async", peer=_LANGGRAPH)
EXIT = Entrant(name="LangGraph, exit", module="contender_langgraph", way="exit", peer=_LANGGRAPH)
MESSAGES = Entrant(
    name="LangGraph, messages", module="contender_langgraph", way="async+messages", peer=_LANGGRAPH
)
MESSAGES_EXIT = Entrant(
    name="LangGraph, messages, exit",
    module="contender_langgraph",
    way="exit+messages",
    peer=_LANGGRAPH,
)
DBOS = Entrant(name="DBOS", module="contender_dbos", peer="dbos")
PYDANTIC_AI = Entrant(name="Pydantic AI", module="contender_pydantic_ai", peer="pydantic-ai-slim")
OPENAI_AGENTS = Entrant(
    name="OpenAI Agents", module="contender_openai_agents", peer="openai-agents"
)
ENTRANTS = (
    OURS,
    FLOOR,
    DEFAULT,
    EXIT,
    MESSAGES,
    MESSAGES_EXIT,
    DBOS,
    PYDANTIC_AI,
    OPENAI_AGENTS,
)


class EntrantFailed(Exception):
    """A contender broke, or found that it had not done the work."""


def environment() -> dict[str, str]:
    """Give what a child needs to find our modules; nobody is to be told about us."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "LANGSMITH_TRACING": "false",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }


def run(python: str, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of ours, and read the last line that it wrote."""
    return run_lines(python, module, *arguments)[-1]


def run_lines(python: str, module: str, *arguments: str) -> list[dict[str, Any]]:
    """Run a module of ours in an empty folder that goes away, and read what it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        return run_module(python, f"bench.gateway.{module}", folder, *arguments)


def run_module(python: str, module: str, *arguments: str) -> list[dict[str, Any]]:
    """Run a module, and read the lines of JSON that it wrote."""
    done = subprocess.run(  # noqa: S603 (our own module, no shell)
        [python, "-m", module, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=_TIMEOUT_SECONDS,
    )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-15:])
        raise EntrantFailed(f"{module} {' '.join(arguments)}:\n{last}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
