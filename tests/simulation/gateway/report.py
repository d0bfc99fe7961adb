"""Many seeds, on all cores, and what came of them in one table."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from tests.simulation.gateway.invariants import INVARIANTS
from tests.simulation.gateway.mutations import MUTATIONS
from tests.simulation.gateway.simulation import Result, simulate

_CHUNK = 5
_SHOWN = 5


@dataclass
class Report:
    """What came of many seeds."""

    mutation: str = "none"
    seeds: int = 0
    seconds: float = 0.0
    virtual_seconds: float = 0.0
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[Result] = field(default_factory=list)

    def add(self, result: Result) -> None:
        """Add one."""
        self.seeds += 1
        self.virtual_seconds += result.seconds
        self.steps += result.steps
        self.faults += result.faults
        self.counts += result.counts
        if result.wrong:
            self.failed.append(result)

    def text(self) -> str:
        """Write it for people."""
        hours = self.virtual_seconds / 3600
        faults = "\n".join(f"  {number:>9,}  {name}" for name, number in self.faults.most_common())
        rules = ", ".join(rule.__name__ for rule in INVARIANTS)
        days = f"{hours:,.1f} hours of their time ({hours / 24:,.1f} days)"
        return "\n".join(
            [
                f"{self.seeds:,} seeds, {days}, {self.steps:,} steps, in {self.seconds:,.0f} s",
                f"{self.faults.total():,} faults:",
                faults,
                f"held to {len(INVARIANTS)} rules, and each write as it was made: {rules}",
                *(self._failure(one) for one in self.failed),
                f"{len(self.failed):,} seeds failed",
            ]
        )

    def _failure(self, result: Result) -> str:
        shown = "\n".join(f"    {one}" for one in result.wrong[:_SHOWN])
        planted = "" if self.mutation == "none" else f" --mutation {self.mutation}"
        again = f"./parley simulate --seed {result.seed}{planted} --trace"
        return f"\nseed {result.seed}: {again}\n{shown}"

    def json(self) -> str:
        """Write it for programs."""
        return json.dumps(
            {
                "seeds": self.seeds,
                "virtual_seconds": round(self.virtual_seconds),
                "steps": self.steps,
                "seconds": round(self.seconds, 1),
                "faults": self.faults,
                "failed": {one.seed: one.wrong for one in self.failed},
            }
        )


def run_seeds(
    seeds: Iterable[int],
    *,
    mutation: str = "none",
    jobs: int | None = None,
    tell: Callable[[Report, Result], None] = lambda _report, _result: None,
) -> Report:
    """Run them all, several at once."""
    report, begun = Report(mutation), time.monotonic()
    with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        for results in pool.map(partial(_some, mutation), _chunks(seeds)):
            for result in results:
                report.add(result)
                report.seconds = time.monotonic() - begun
                tell(report, result)
    return report


def _some(mutation: str, seeds: list[int]) -> list[Result]:
    return [simulate(seed, mutation=MUTATIONS[mutation]()) for seed in seeds]


def _chunks(seeds: Iterable[int]) -> Iterator[list[int]]:
    left = iter(seeds)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk
