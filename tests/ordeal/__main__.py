"""Run the ordeal by hand: `./parley ordeal --kills 500`, `./parley ordeal --minutes 60`.

A report on standard output, progress on standard error; exits 1 if anything was lost or repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shlex
import sys
import tempfile
import traceback
from pathlib import Path

from tests.ordeal.ordeal import Outcome, Plan, endure
from tests.ordeal.troubles import TROUBLES


def main() -> int:
    """Go through it on each store that is asked for."""
    asked = _arguments()
    failed = 0
    for kind in asked.store:
        plan = Plan(
            kind=kind,
            seed=asked.seed or random.SystemRandom().randrange(1, 1 << 32),
            kills=asked.kills,
            seconds=asked.minutes * 60,
            only=tuple(asked.only),
        )
        sys.stderr.write(f"{kind}: seed {plan.seed}\n")
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = asyncio.run(endure(plan, Path(folder, "house")))
            except Exception:  # noqa: BLE001 (the other store is tried all the same)
                traceback.print_exc()
                sys.stdout.write(f"{_failure(plan, asked)}\n")
                failed = 1
            else:
                told = json.dumps(outcome.as_dict()) if asked.json else _report(outcome)
                sys.stdout.write(f"{told}\n")
    return failed


def _failure(plan: Plan, asked: argparse.Namespace) -> str:
    """Say that it failed, and which command makes the same choices again."""
    only = ["--only", *plan.only] if plan.only else []
    minutes = ["--minutes", f"{asked.minutes:g}"] if asked.minutes else []
    chosen = ["--kills", str(plan.kills), "--seed", str(plan.seed), *minutes, *only]
    again = shlex.join(["./parley", "ordeal", "--store", plan.kind, *chosen])
    if asked.json:
        return json.dumps({"kind": plan.kind, "failed": True, "again": again})
    return f"{plan.kind}: FAILED; {again}"


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./parley ordeal", description=__doc__)
    stores = ("sqlite", "postgres")
    parser.add_argument("--store", nargs="+", choices=stores, default=list(stores))
    parser.add_argument("--kills", type=_positive, default=500, help="at least so many")
    parser.add_argument("--minutes", type=float, default=0.0, help="at least so long")
    parser.add_argument("--seed", type=int, default=0, help="repeat the choices of an earlier run")
    names = sorted({name for table in TROUBLES.values() for name in table})
    parser.add_argument("--only", nargs="+", choices=names, default=[], help="these troubles alone")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _report(outcome: Outcome) -> str:
    troubles = ", ".join(f"{times} x {name}" for name, times in outcome.troubles.most_common())
    ends = ", ".join(f"{times} {status}" for status, times in outcome.threads.most_common())
    return (
        f"{outcome.kind}: nothing lost, nothing repeated in {outcome.seconds:.0f} s (seed "
        f"{outcome.seed})\n  {troubles}\n  threads: {ends}; {outcome.model_calls} model calls, "
        f"{outcome.lost_connections} lost connections; drained in {outcome.drained_in:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
