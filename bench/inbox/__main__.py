"""Run the benchmark of the inbox. Tables go to standard output."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform

from bench.inbox import pages, viewers
from bench.inbox.subject import subject


async def main(asked: argparse.Namespace) -> None:
    """Measure, and print the report."""
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {asked.store}")
    print(f"{asked.threads:,} threads; one of {asked.events:,} events", flush=True)
    async with subject(asked.store, asked.threads, asked.events) as server:
        print(f"\n=== pages: load {os.getloadavg()[0]:.1f}", flush=True)
        print(await pages.measure(server, asked.rounds), flush=True)
        print(f"\n=== live: load {os.getloadavg()[0]:.1f}", flush=True)
        for count in (1, asked.viewers):
            table = await viewers.measure(
                server,
                viewers=count,
                commits=asked.commits,
                after=asked.events if count == 1 else asked.events + asked.commits,
            )
            print(table, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.inbox", description=__doc__)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--threads", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--viewers", type=int, default=500)
    parser.add_argument("--commits", type=int, default=20)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(_arguments()))
