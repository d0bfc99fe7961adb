"""One process of a heat: warm up, say so, wait for the sign, run for some seconds, tell.

All the processes of a heat begin and end together, so that their cycles can be added up. This file
runs in the peers' environments as well as in ours: standard library only.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import Protocol, TypeAlias

from bench.gateway.stopwatch import WARM_UP, repeat

READY = "ready"
_APART = 10_000_000
"""Between the numbers of two processes: each names its threads by its own."""


class Contender(Protocol):
    """One system under measurement, on a database that others use too."""

    version: str

    async def cycle(self, number: int, /) -> None:
        """Launch, be asked, answer, see it finished; raise if any of it isn't so."""
        ...


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What one process did: a line of JSON on standard output."""

    version: str
    cycles: int
    seconds: float
    cpu_seconds: float


Open: TypeAlias = Callable[[str, str], AbstractAsyncContextManager[Contender]]
"""Makes a contender on the database of this URL, in the way of that name."""


def main(make: Open) -> None:
    """Take part, and write a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--way", default="")
    parser.add_argument("--process", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    ran = asyncio.run(_run(make(asked.url, asked.way), asked))
    print(json.dumps(asdict(ran)), flush=True)


async def _run(making: AbstractAsyncContextManager[Contender], asked: argparse.Namespace) -> Ran:
    numbers = itertools.count(asked.process * _APART)
    async with making as contender:
        await repeat(contender.cycle, numbers, asked.at_once, until=lambda done: done >= WARM_UP)
        gc.collect()
        print(READY, flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        wall, cpu = time.perf_counter(), time.process_time()
        end = wall + asked.seconds
        cycles = await repeat(
            contender.cycle, numbers, asked.at_once, until=lambda _: time.perf_counter() >= end
        )
        return Ran(
            version=contender.version,
            cycles=cycles,
            seconds=time.perf_counter() - wall,
            cpu_seconds=time.process_time() - cpu,
        )
