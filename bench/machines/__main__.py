"""Run the benchmark: heats of 1, 2 and 4 processes on one PostgreSQL, then threads that have grown.

The tables go to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence

from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import EntrantFailed
from bench.machines import growth
from bench.machines.entrants import ENTRANTS, OURS, Entrant, Heat, run
from bench.machines.report import Runs, render
from bench.machines.server import Server, server
from bench.venvs import available

_HEATS = ((1, 1), (1, 32), (2, 32), (4, 32))
"""Processes, and cycles at once in all of them together."""


def main() -> int:
    """Measure, and print what came out."""
    asked = _arguments()
    entrants = list(available(ENTRANTS, asked.only))
    heats = [
        Heat(processes=processes, at_once=many, seconds=asked.seconds) for processes, many in _HEATS
    ]
    print(
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs, ", end=""
    )
    print(f"load {os.getloadavg()[0]:.1f}, fsync/s {fsyncs_per_second():,.0f}", flush=True)
    try:
        with server() as shared:
            print(render(_measure(entrants, heats, asked.rounds, shared)), flush=True)
            if not asked.no_growth:
                print(growth.measure(entrants, asked.earlier, shared))
    except EntrantFailed as failed:
        _tell(str(failed))
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.machines", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="of cycles, each time")
    parser.add_argument("--earlier", type=int, default=5_000, help="messages of a grown thread")
    parser.add_argument("--no-growth", action="store_true", help="leave the grown threads out")
    parser.add_argument("--only", nargs="+", default=[], help="entrants whose name begins so")
    return parser.parse_args()


def _measure(
    entrants: Sequence[Entrant], heats: Sequence[Heat], rounds: int, shared: Server
) -> Runs:
    """Take turns, beginning with another one each round: the machine's moods hit everybody."""
    runs: Runs = {(entrant.name, heat): [] for heat in heats for entrant in entrants}
    for number in range(rounds):
        first = number % len(entrants)
        for heat in heats:
            for entrant in (*entrants[first:], *entrants[:first]):
                _add(runs, entrant, heat, shared)
    return runs


def _add(runs: Runs, entrant: Entrant, heat: Heat, shared: Server) -> None:
    try:
        result = run(entrant, heat, shared)
    except EntrantFailed as failed:
        if entrant is OURS:
            raise
        _tell(f"{entrant.name} is left out of this heat: {failed}")
        return
    runs[entrant.name, heat].append(result)
    rate = result.cycles / result.seconds
    _tell(f"{entrant.name}, {heat.processes} x {heat.at_once // heat.processes}: {rate:,.1f}/s")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
