"""How cycles are timed: one at a time or many at once, for some seconds, in one process.

This file runs in the peers' environments as well as in ours: standard library only.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

QUESTION = {"tool": "refund", "order": "A-123", "amount": 49.9}
ANSWER = {"approved": True}
REQUEST = "Please pay order A-123 back, it came late."
REPLY = "I have looked at the order, and I would like to pay the customer back."
DONE = "The customer has her money back."
REFUNDED = "49.9 paid back for A-123"

WARM_UP = 5


class Contender(Protocol):
    """One system under measurement."""

    version: str
    database: Path

    async def cycle(self, number: int, /) -> None:
        """Launch, be asked, answer, see it finished; raise if any of it isn't so."""
        ...


@dataclass(frozen=True, kw_only=True)
class Cycles:
    """What one contender did: a line of JSON on standard output."""

    version: str
    at_once: int
    cycles: int
    seconds: float
    cpu_seconds: float
    stored_bytes: int
    """In the database, for all the cycles together."""


Open: TypeAlias = Callable[[Path, str], AbstractAsyncContextManager[Contender]]
"""Makes a contender in a folder, in the way of that name."""


def main(make: Open) -> None:
    """Measure one contender, and write a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--way", default="")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    measured = asyncio.run(_measure(make(asked.folder, asked.way), asked.at_once, asked.seconds))
    print(json.dumps(asdict(measured)), flush=True)


async def _measure(
    making: AbstractAsyncContextManager[Contender], at_once: int, seconds: float
) -> Cycles:
    numbers = itertools.count()
    async with making as contender:
        await repeat(contender.cycle, numbers, at_once, until=lambda done: done >= WARM_UP)
        before = stored_bytes(contender.database)
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        end = wall + seconds
        cycles = await repeat(
            contender.cycle, numbers, at_once, until=lambda _: time.perf_counter() >= end
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        return Cycles(
            version=contender.version,
            at_once=at_once,
            cycles=cycles,
            seconds=wall,
            cpu_seconds=cpu,
            stored_bytes=stored_bytes(contender.database) - before,
        )


async def repeat(
    cycle: Callable[[int], Awaitable[None]],
    numbers: itertools.count[int],
    at_once: int,
    *,
    until: Callable[[int], bool],
) -> int:
    """Keep so many going until it is enough; each that was begun is finished and counted."""
    done = 0

    async def work() -> None:
        nonlocal done
        while not until(done):
            await cycle(next(numbers))
            done += 1

    async with asyncio.TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(work())
    return done


def stored_bytes(database: Path) -> int:
    """Give the bytes of the pages that hold something, as of the last commit."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        [free] = connection.execute("PRAGMA freelist_count").fetchone()
        [size] = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    return int((pages - free) * size)
