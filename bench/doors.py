"""How much a server takes in: many connections press requests on it, and whoever waits is timed.

Shared by the benchmarks of intake, webhooks and Slack. Servers take turns, each a fresh process in
an empty folder, beginning with another one each round; figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import EntrantFailed
from bench.gateway.servers import free_port, process, usage

_CONNECTIONS = 32
_WARM_UP_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True)
class Door:
    """A server under measurement, and how it says that it has taken something."""

    name: str
    module: str
    way: str = ""
    path: str = ""
    done: bytes = b"HTTP/1.1 201"


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What one of them took in, once."""

    requests: int
    seconds: float
    cpu_seconds: float
    latencies: list[float]
    fsyncs: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cpu(self) -> float:
        """Milliseconds of CPU a request."""
        return 1000 * self.cpu_seconds / self.requests

    def percentile(self, share: float) -> float:
        """Give the latency that this share of the requests stayed below, in milliseconds."""
        return 1000 * sorted(self.latencies)[int(share * (len(self.latencies) - 1))]


Runs = dict[str, list[Taken]]
Requests = Callable[[Door, str], Iterator[bytes]]
"""Gives a door's requests, without an end; the text is the secret that its server knows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=_CONNECTIONS)


def take_turns(doors: Sequence[Door], requests: Requests, asked: argparse.Namespace) -> Runs:
    """Measure each in each round."""
    runs: Runs = {one.name: [] for one in doors}
    for number in range(asked.rounds):
        first = number % len(doors)
        for door in (*doors[first:], *doors[:first]):
            taken = _once(door, requests, asked.connections, asked.seconds)
            runs[door.name].append(taken)
            print(f"{door.name}: {taken.rate:,.0f}/s", file=sys.stderr, flush=True)
    return runs


def medians(runs: Runs) -> tuple[dict[str, float], dict[str, float]]:
    """Give the rates, and the CPU in milliseconds a request."""
    rates = {name: median(one.rate for one in all_) for name, all_ in runs.items()}
    cpus = {name: median(one.cpu for one in all_) for name, all_ in runs.items()}
    return rates, cpus


HEADS = ("CPU ms", "p50 ms", "p99 ms", "fsync/s")


def cells(taken: Sequence[Taken]) -> list[str]:
    """Write the columns of `HEADS`."""
    return [
        f"{median(one.cpu for one in taken):.3f}",
        *(f"{median(one.percentile(share) for one in taken):.1f}" for share in (0.5, 0.99)),
        f"{median(one.fsyncs for one in taken):,.0f}",
    ]


def _once(door: Door, requests: Requests, connections: int, seconds: float) -> Taken:
    key, port = secrets.token_hex(32), free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", door.module, folder, str(port), door.way]
        fsyncs = fsyncs_per_second(0.3)
        with process(command, Path(folder), {"BENCH_KEY": key}, port, "/readyz") as server:
            posts = requests(door, key)
            asyncio.run(_press(port, posts, door.done, connections, _WARM_UP_SECONDS))
            cpu, wall = usage(server.pid).cpu_seconds, time.perf_counter()
            latencies = asyncio.run(_press(port, posts, door.done, connections, seconds))
            return Taken(
                requests=len(latencies),
                seconds=time.perf_counter() - wall,
                cpu_seconds=usage(server.pid).cpu_seconds - cpu,
                latencies=latencies,
                fsyncs=fsyncs,
            )


# The client: as little as can be, so that it is the server that is measured


async def _press(
    port: int, requests: Iterator[bytes], done: bytes, connections: int, seconds: float
) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(next(requests))
            await _read(reader, done)
            latencies.append(time.perf_counter() - began)
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(one())
    return latencies


async def _read(reader: asyncio.StreamReader, done: bytes) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0].partition(b":")[2]))
    if not head.startswith(done):
        raise EntrantFailed(f"{head.decode()}{body.decode(errors='replace')}")
