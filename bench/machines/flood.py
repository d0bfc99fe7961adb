"""A steady stream of signed webhooks to several processes: is each durable, how late is the last?

They are sent at their time, whether those before were answered or not; who waits is timed from the
moment that it should have been sent, so that a server that stands still can't hide it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from bench.gateway.disk import fsyncs_per_second
from bench.machines.site import THREADS, send, site
from tests.scenario.gateway.machines import Machines

_MOST_AT_ONCE = 512
_DRAIN_SECONDS = 60.0


@dataclass
class _Told:
    answers: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Give the time that this share stayed below, in milliseconds."""
        return 1000 * sorted(self.seconds)[int(share * (len(self.seconds) - 1))]


def main() -> int:
    """Send for so long, and tell."""
    parser = argparse.ArgumentParser(prog="python -m bench.machines.flood", description=__doc__)
    parser.add_argument("--rate", type=float, default=500.0, help="a second")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--roles", nargs="+", default=["web", "web", "worker", "worker"])
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, fsync/s {fsyncs_per_second():,.0f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_run(Path(folder, "site"), asked))


async def _run(folder: Path, asked: argparse.Namespace) -> int:
    async with site(folder, asked.roles) as here:
        began = time.monotonic()
        told = await _flood(here, asked.rate, asked.minutes * 60)
        seconds = time.monotonic() - began
        waited = await _drained(here)
        [(threads, finished)] = await here.rows(THREADS)
    sent = sum(told.answers.values())
    print(
        f"{sent:,} webhooks to {' '.join(asked.roles)}: {sent / seconds:,.0f}/s for {seconds:.0f} s"
    )
    figures = ", ".join(
        f"p{share:g} {told.percentile(share / 100):,.1f} ms" for share in (50, 99, 99.9)
    )
    print(f"{figures}; answers {dict(told.answers)}")
    print(f"{threads:,} threads, {finished:,} finished {waited:.1f} s after the last")
    return 0 if threads == finished == sent and set(told.answers) == {202} else 1


async def _flood(here: Machines, rate: float, seconds: float) -> _Told:
    told = _Told()
    connector = aiohttp.TCPConnector(limit=_MOST_AT_ONCE)
    begin = time.perf_counter()

    async def one(session: aiohttp.ClientSession, number: int) -> None:
        status = await send(session, here.url, number)
        told.answers[status] += 1
        told.seconds.append(time.perf_counter() - begin - number / rate)

    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as tasks:
        for number in range(int(rate * seconds)):
            early = begin + number / rate - time.perf_counter()
            if early > 0:
                await asyncio.sleep(early)
            tasks.create_task(one(session, number))
    return told


async def _drained(here: Machines) -> float:
    """Wait until every thread has come to its end; tell how long that took."""
    began = time.monotonic()
    while time.monotonic() < began + _DRAIN_SECONDS:
        [(threads, finished)] = await here.rows(THREADS)
        if threads == finished:
            break
        await asyncio.sleep(0.2)
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
