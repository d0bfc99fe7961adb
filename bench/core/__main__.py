"""Run the benchmark: interleaved rounds of every entrant at every size, then the table.

The table goes to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.core.entrants import ENTRANTS, OURS, Entrant, EntrantFailed, run
from bench.core.report import render
from bench.core.workload import Measurement
from bench.venvs import available


def main() -> int:
    """Measure, and print what came out."""
    asked = _arguments()
    entrants = list(available(ENTRANTS, asked.only))
    runs: dict[tuple[str, int], list[Measurement]] = {
        (entrant.name, earlier): [] for earlier in asked.sizes for entrant in entrants
    }
    try:
        for entrant, earlier in _schedule(entrants, asked.sizes, asked.rounds):
            measured = run(entrant, earlier=earlier, seconds=asked.seconds)
            runs[entrant.name, earlier].append(measured)
            _tell(f"{entrant.name}, {earlier:,}: {measured.cycles / measured.seconds:,.1f}/s")
    except EntrantFailed as failed:
        _tell(str(failed))
        return 1
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    print(f"{asked.rounds} rounds of {asked.seconds:g} s each; rates are medians, best beside\n")
    print(render(runs, ours=OURS.name))
    if asked.json:
        _write(asked.json, runs)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.core", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[0, 100, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of cycles, each time")
    parser.add_argument("--only", nargs="+", default=[], help="entrants whose name begins so")
    parser.add_argument("--json", type=Path, help="write every measurement to this file")
    return parser.parse_args()


def _schedule(
    entrants: Sequence[Entrant], sizes: Sequence[int], rounds: int
) -> Iterator[tuple[Entrant, int]]:
    """Take turns, beginning with another one each round: the machine's moods hit everybody."""
    for number in range(rounds):
        first = number % len(entrants)
        for earlier in sizes:
            for entrant in (*entrants[first:], *entrants[:first]):
                yield entrant, earlier


def _write(path: Path, runs: dict[tuple[str, int], list[Measurement]]) -> None:
    lines = [
        json.dumps({"entrant": name, **asdict(measured)})
        for (name, _), rounds in runs.items()
        for measured in rounds
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
