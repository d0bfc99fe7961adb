"""Run the benchmark of webhooks. The table goes to standard output."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import itertools
import json
import os
import platform
import secrets
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

_CONNECTIONS = 32
_WARM_UP_SECONDS = 0.5
_BODY = json.dumps({"agent": "desk", "text": "The parcel came late. " * 75}).encode()


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """A server under measurement."""

    name: str
    module: str
    way: str
    path: str
    status: bytes


_OURS = Receiver(
    name="Parley",
    module="bench.hooks.server_parley",
    way="",
    path="/hooks/bench",
    status=b"HTTP/1.1 202",
)
_KEYED = Receiver(
    name="Parley, with a thread_key",
    module="bench.hooks.server_parley",
    way="keyed",
    path="/hooks/bench",
    status=b"HTTP/1.1 202",
)
_BARE = Receiver(
    name="bare aiohttp",
    module="bench.gateway.server_bare",
    way="bare",
    path="/v1/threads",
    status=b"HTTP/1.1 201",
)
_COMMIT = Receiver(
    name="bare aiohttp, group commit",
    module="bench.gateway.server_bare",
    way="commit",
    path="/v1/threads",
    status=b"HTTP/1.1 201",
)
_RECEIVERS = (_OURS, _KEYED, _BARE, _COMMIT)
_TARGETS = ((_BARE, 0.65), (_COMMIT, 0.80))
"""Those of issue 3."""


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


def main() -> int:
    """Measure, and tell."""
    asked = _arguments()
    told = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs"
    print(f"{told}, load {os.getloadavg()[0]:.1f}", flush=True)
    print(f"{asked.connections} connections, {len(_BODY):,} bytes")
    try:
        for line in _report(_runs(asked)):
            print(line)
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=_CONNECTIONS)
    return parser.parse_args()


def _runs(asked: argparse.Namespace) -> dict[str, list[Taken]]:
    """Let them take turns, each a fresh process on an empty database."""
    runs: dict[str, list[Taken]] = {one.name: [] for one in _RECEIVERS}
    for number in range(asked.rounds):
        first = number % len(_RECEIVERS)
        for receiver in (*_RECEIVERS[first:], *_RECEIVERS[:first]):
            taken = _once(receiver, asked.connections, asked.seconds)
            runs[receiver.name].append(taken)
            print(f"{receiver.name}: {taken.rate:,.0f}/s", file=sys.stderr, flush=True)
    return runs


def _report(runs: dict[str, list[Taken]]) -> Iterator[str]:
    rates = {name: median(one.rate for one in all_) for name, all_ in runs.items()}
    cpus = {name: median(one.cpu for one in all_) for name, all_ in runs.items()}
    rows = [
        [
            name,
            f"{rates[name]:,.0f}",
            f"{cpus[name]:.3f}",
            *(_latency(all_, share) for share in (0.5, 0.99)),
            f"{median(one.fsyncs for one in all_):,.0f}",
            f"{rates[_OURS.name] / rates[name]:.2f}x",
            f"{cpus[name] / cpus[_OURS.name]:.2f}x",
        ]
        for name, all_ in runs.items()
    ]
    heads = ("", "requests/s", "CPU ms", "p50 ms", "p99 ms", "fsync/s", "ours/it", "its CPU/ours")
    yield table(heads, rows)
    for other, target in _TARGETS:
        by_rate = rates[_OURS.name] / rates[other.name]
        by_cpu = cpus[other.name] / cpus[_OURS.name]
        for share, how in ((by_rate, ""), (by_cpu, ", by CPU")):
            wanted = f"at least {target:.0%}"
            yield verdict(f"{share:.0%} of {other.name}{how}", wanted, met=share >= target)


def _latency(runs: Sequence[Taken], share: float) -> str:
    return f"{median(one.percentile(share) for one in runs):.1f}"


def _once(receiver: Receiver, connections: int, seconds: float) -> Taken:
    key, port = secrets.token_hex(32), free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", receiver.module, folder, str(port), receiver.way]
        fsyncs = fsyncs_per_second(0.3)
        with process(command, Path(folder), {"BENCH_KEY": key}, port, "/readyz") as server:
            requests = _Requests(receiver, key)
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


class _Requests:
    """Signed deliveries, each with an id of its own; the body's signature is the same."""

    def __init__(self, receiver: Receiver, key: str) -> None:
        signature = hmac.new(key.encode(), _BODY, hashlib.sha256).hexdigest()
        heads = [
            f"POST {receiver.path} HTTP/1.1",
            "Host: 127.0.0.1",
            "Content-Type: application/json",
            f"Content-Length: {len(_BODY)}",
            f"X-Signature: {signature}",
            f"X-Hub-Signature-256: sha256={signature}",
            "X-GitHub-Delivery: ",
        ]
        self._before = "\r\n".join(heads).encode()
        self._numbers = itertools.count(1)
        self.status = receiver.status

    def next(self) -> bytes:
        """Give the next one."""
        return b"%b%012d\r\n\r\n%b" % (self._before, next(self._numbers), _BODY)


async def _press(port: int, requests: _Requests, connections: int, seconds: float) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(requests.next())
            await _read(reader, requests.status)
            latencies.append(time.perf_counter() - began)
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(one())
    return latencies


async def _read(reader: asyncio.StreamReader, status: bytes) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0].partition(b":")[2]))
    if not head.startswith(status):
        raise EntrantFailed(f"{head.decode()}{body.decode(errors='replace')}")


if __name__ == "__main__":
    sys.exit(main())
