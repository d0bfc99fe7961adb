"""Who takes part, and how a heat of one of them is run: several processes that begin together."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from bench.gateway.entrants import ROOT, EntrantFailed, environment
from bench.machines.heat import READY, Ran
from bench.machines.server import Server
from bench.venvs import peer_python

_PINS = Path(__file__).parent / "peers.txt"
_PATIENCE = 120


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One contender in one of its ways."""

    name: str
    module: str
    way: str = ""
    peer: str = ""
    """The environment to run in; ours when empty."""
    is_on_our_tables: bool = False

    def python(self) -> str:
        """Find the interpreter, installing the peer on its first use."""
        return str(peer_python(self.peer, _PINS)) if self.peer else sys.executable


_LANGGRAPH = "langgraph-checkpoint-postgres"
OURS = Entrant(name="Parley", module="contender_parley", is_on_our_tables=True)
FLOOR = Entrant(name="floor: rows by hand", module="contender_floor", is_on_our_tables=True)
LANGGRAPH = Entrant(name="LangGraph", module="contender_langgraph", way="async", peer=_LANGGRAPH)
DBOS = Entrant(name="DBOS", module="contender_dbos", peer="dbos")
ENTRANTS = (OURS, FLOOR, LANGGRAPH, DBOS)


@dataclass(frozen=True, kw_only=True)
class Heat:
    """How many processes, and how many cycles at once in all of them together."""

    processes: int
    at_once: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a heat did."""

    version: str
    cycles: int
    seconds: float
    cpu_seconds: float
    """Of the contender's processes."""
    server_seconds: float
    """Of PostgreSQL's."""


def run(entrant: Entrant, heat: Heat, server: Server) -> Result:
    """Run it on an empty database of its own."""
    with server.database(has_our_tables=entrant.is_on_our_tables) as url, ExitStack() as stack:
        if not entrant.is_on_our_tables:  # two who make their tables at once would clash
            alone = _command(entrant, replace(heat, at_once=1, seconds=0), url, heat.processes)
            stack.enter_context(_started(alone)).communicate("go\n")
        commands = [_command(entrant, heat, url, number) for number in range(heat.processes)]
        running = [stack.enter_context(_started(command)) for command in commands]
        for process in running:
            _until_ready(entrant, process)
        before = server.cpu_seconds()
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        ran = [_told(entrant, process) for process in running]
        return Result(
            version=ran[0].version,
            cycles=sum(one.cycles for one in ran),
            seconds=max(one.seconds for one in ran),
            cpu_seconds=sum(one.cpu_seconds for one in ran),
            server_seconds=server.cpu_seconds() - before,
        )


def _command(entrant: Entrant, heat: Heat, url: str, number: int) -> list[str]:
    share = max(heat.at_once // heat.processes, 1)
    options = {"way": entrant.way, "process": number, "at-once": share, "seconds": heat.seconds}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return [entrant.python(), "-m", f"bench.machines.{entrant.module}", url, *given]


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 (our own module, no shell)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
    )


def _until_ready(entrant: Entrant, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == READY:
            return
    raise EntrantFailed(f"{entrant.module} ended with {process.wait(_PATIENCE)}")


def _told(entrant: Entrant, process: subprocess.Popen[str]) -> Ran:
    out, _ = process.communicate(timeout=_PATIENCE)
    if process.returncode:
        raise EntrantFailed(f"{entrant.module} ended with {process.returncode}")
    return Ran(**json.loads(out.splitlines()[-1]))
