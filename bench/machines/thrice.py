"""Deliveries three times each, shuffled, to four processes: as many threads as deliveries."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import aiohttp

from bench.machines.site import THREADS, send, site
from tests.scenario.gateway.machines import Machines

_COPIES = 3
_AT_ONCE = 64
_TAKEN = 202


def main() -> int:
    """Send them, and count."""
    parser = argparse.ArgumentParser(prog="python -m bench.machines.thrice", description=__doc__)
    parser.add_argument("--deliveries", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_run(Path(folder, "site"), asked.deliveries))


async def _run(folder: Path, deliveries: int) -> int:
    async with site(folder, ["all"] * 4) as here:
        began = time.monotonic()
        answers = await _send_all(here, deliveries)
        seconds = time.monotonic() - began
        [(threads, _)] = await here.rows(THREADS)
        print(
            f"{deliveries:,} deliveries {_COPIES} times each to {len(here.doors)} processes ",
            end="",
        )
        print(f"in {seconds:.1f} s: {threads:,} threads; answers {dict(answers)}")
        is_right = threads == deliveries and answers == {_TAKEN: _COPIES * deliveries}
        return 0 if is_right else 1


async def _send_all(here: Machines, deliveries: int) -> Counter[int]:
    """Send every copy, in any order, some at once."""
    copies = [number for number in range(deliveries) for _ in range(_COPIES)]
    random.Random(2).shuffle(copies)  # noqa: S311 (an order, no secret)
    answers: Counter[int] = Counter()

    async def work(session: aiohttp.ClientSession) -> None:
        while copies:
            answers[await send(session, here.url, copies.pop())] += 1

    connector = aiohttp.TCPConnector(limit=_AT_ONCE)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as tasks:
        for _ in range(_AT_ONCE):
            tasks.create_task(work(session))
    return answers


if __name__ == "__main__":
    sys.exit(main())
