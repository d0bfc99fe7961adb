"""Signed mention → acknowledgement over HTTP, beside Bolt with an empty listener."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import EntrantFailed
from bench.gateway.servers import free_port, process, usage
from bench.gateway.tables import table, verdict
from bench.slack.mentions import request

_CONNECTIONS = 32
_PREPARED = 40_000
_WARM_UP_SECONDS = 0.5
_TARGET = 0.60
"""Issue 4."""
_DONE = b"HTTP/1.1 200"


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """A server under measurement."""

    name: str
    module: str
    way: str = ""


_BOLT = Receiver(name="Bolt, an empty listener", module="server_bolt")
_LIST = Receiver(name="Parley, into a list", module="server_parley", way="list")
_GATEWAY = Receiver(name="Parley, durable on SQLite", module="server_parley", way="gateway")
_RECEIVERS = (_BOLT, _LIST, _GATEWAY)


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What one of them took in, once."""

    requests: int
    seconds: float
    cpu_seconds: float
    latencies: list[float]
    fsyncs: float

    def percentile(self, share: float) -> float:
        """Give the latency that this share of the requests stayed below, in milliseconds."""
        return 1000 * sorted(self.latencies)[int(share * (len(self.latencies) - 1))]


def main() -> int:
    """Let them take turns, each a fresh process in an empty folder."""
    asked = _arguments()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    print(f"load {os.getloadavg()[0]:.1f}, {asked.connections} connections", flush=True)
    runs: dict[str, list[Taken]] = {one.name: [] for one in _RECEIVERS}
    try:
        for number in range(asked.rounds):
            first = number % len(_RECEIVERS)
            for receiver in (*_RECEIVERS[first:], *_RECEIVERS[:first]):
                taken = _once(receiver, asked.connections, asked.seconds)
                runs[receiver.name].append(taken)
                rate = taken.requests / taken.seconds
                print(f"{receiver.name}: {rate:,.0f}/s", file=sys.stderr, flush=True)
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    print("\n".join(_report(runs)))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.slack", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=_CONNECTIONS)
    return parser.parse_args()


def _report(runs: dict[str, list[Taken]]) -> Iterator[str]:
    rates = {
        name: median(one.requests / one.seconds for one in all_) for name, all_ in runs.items()
    }
    cpus = {
        name: median(1000 * one.cpu_seconds / one.requests for one in all_)
        for name, all_ in runs.items()
    }
    rows = [
        [
            name,
            f"{rates[name]:,.0f}",
            f"{cpus[name]:.3f}",
            *(_latency(all_, share) for share in (0.5, 0.99)),
            f"{median(one.fsyncs for one in all_):,.0f}",
            f"{rates[name] / rates[_BOLT.name]:.2f}x",
            f"{cpus[_BOLT.name] / cpus[name]:.2f}x",
        ]
        for name, all_ in runs.items()
    ]
    heads = ("", "mentions/s", "CPU ms", "p50 ms", "p99 ms", "fsync/s", "of Bolt", "by CPU")
    yield table(heads, rows)
    for receiver in (_LIST, _GATEWAY):
        share = rates[receiver.name] / rates[_BOLT.name]
        told = f"{receiver.name}: {share:.0%} of Bolt's rate"
        yield verdict(told, f"at least {_TARGET:.0%}", met=share >= _TARGET)


def _latency(runs: Sequence[Taken], share: float) -> str:
    return f"{median(one.percentile(share) for one in runs):.1f}"


def _once(receiver: Receiver, connections: int, seconds: float) -> Taken:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", f"bench.slack.{receiver.module}", folder, str(port)]
        requests = itertools.cycle([request(number) for number in range(_PREPARED)])
        fsyncs = fsyncs_per_second(0.3)
        with process([*command, receiver.way], Path(folder), {}, port, "/readyz") as server:
            asyncio.run(_press(port, requests, connections, _WARM_UP_SECONDS))
            cpu, wall = usage(server.pid).cpu_seconds, time.perf_counter()
            latencies = asyncio.run(_press(port, requests, connections, seconds))
            return Taken(
                requests=len(latencies),
                seconds=time.perf_counter() - wall,
                cpu_seconds=usage(server.pid).cpu_seconds - cpu,
                latencies=latencies,
                fsyncs=fsyncs,
            )


# The client: as little as can be, so that it is the server that is measured


async def _press(
    port: int, requests: Iterator[bytes], connections: int, seconds: float
) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(next(requests))
            await _read_done(reader)
            latencies.append(time.perf_counter() - began)
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(one())
    return latencies


async def _read_done(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0].partition(b":")[2]))
    if not head.startswith(_DONE):
        raise EntrantFailed(f"{head.decode()}{body.decode(errors='replace')}")


if __name__ == "__main__":
    sys.exit(main())
