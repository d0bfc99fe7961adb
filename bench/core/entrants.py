"""Who takes part, and how one of them is run: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.core.workload import Measurement, parse_measurement
from bench.venvs import peer_python

_ROOT = Path(__file__).parent.parent.parent
_PINS = Path(__file__).parent / "peers.txt"
_TIMEOUT_SECONDS = 300


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


OURS = Entrant(name="Parley", module="contender_parley")
ENTRANTS = (
    OURS,
    Entrant(name="Agently, state", module="contender_agently", way="state", peer="agently"),
    Entrant(name="Agently, value", module="contender_agently", way="value", peer="agently"),
    Entrant(name="LangGraph, dicts", module="contender_langgraph", way="dicts", peer="langgraph"),
    Entrant(
        name="LangGraph, messages", module="contender_langgraph", way="messages", peer="langgraph"
    ),
)


class EntrantFailed(Exception):
    """A contender broke, or found that it had not done the work."""


def run(entrant: Entrant, *, earlier: int, seconds: float) -> Measurement:
    """Measure one entrant once. Its folder is empty and goes away: peers like to write files."""
    command = [entrant.python(), "-m", f"bench.core.{entrant.module}", str(earlier)]
    command += ["--way", entrant.way, "--seconds", str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "LANGSMITH_TRACING": "false"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603  (our own module, no shell)
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=_TIMEOUT_SECONDS,
        )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-15:])
        raise EntrantFailed(f"{entrant.name} with {earlier} earlier messages:\n{last}")
    return parse_measurement(done.stdout.splitlines()[-1])
