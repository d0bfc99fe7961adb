# ruff: noqa: T201 (a command prints)
"""`./parley simulate`: many seeds, or one of them line by line. The report goes to standard output.

Exit codes: 0 if every rule held, 1 if one was broken, 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import sys

from tests.simulation.gateway.mutations import MUTATIONS
from tests.simulation.gateway.report import Report, run_seeds
from tests.simulation.gateway.simulation import Result, simulate

_EVERY = 100


def main() -> int:
    """Do as the arguments say."""
    asked = _arguments()
    if asked.seed is not None:
        return _replay(asked.seed, asked.mutation, is_told=asked.trace)
    seeds = range(asked.first, asked.first + asked.seeds)
    report = run_seeds(seeds, mutation=asked.mutation, jobs=asked.jobs, tell=_tell)
    print(report.json() if asked.json else report.text())
    return 1 if report.failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./parley simulate", description="The whole gateway under faults, from seeds."
    )
    parser.add_argument("--seeds", type=_count, default=200, help="how many (200)")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first of them (1)")
    parser.add_argument("--seed", type=int, help="replay one")
    parser.add_argument("--trace", action="store_true", help="with --seed: tell what happens")
    parser.add_argument("--mutation", choices=MUTATIONS, default="none", help="plant a mistake")
    parser.add_argument("--jobs", type=_count, help="at once (one for each core)")
    parser.add_argument("--json", action="store_true", help="the report for programs")
    asked = parser.parse_args()
    if asked.trace and asked.seed is None:
        parser.error("--trace tells the story of one seed: name it with --seed")
    return asked


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _replay(seed: int, mutation: str, *, is_told: bool) -> int:
    result = simulate(seed, mutation=MUTATIONS[mutation](), tell=print if is_told else None)
    print(f"seed {seed}: {result.digest}, {result.steps:,} steps, {result.seconds:,.1f} s")
    for one in result.wrong:
        print(f"  {one}")
    return 1 if result.wrong else 0


def _tell(report: Report, result: Result) -> None:
    if result.wrong:
        print(f"seed {result.seed}: {result.wrong[0]}", file=sys.stderr)
    if report.seeds % _EVERY == 0:
        failed = f", {len(report.failed)} failed" if report.failed else ""
        print(f"{report.seeds:,} seeds in {report.seconds:,.0f} s{failed}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
