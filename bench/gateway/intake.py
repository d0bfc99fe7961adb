"""Signed request → durable acknowledgement over HTTP, beside bare aiohttp."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import json
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
_CREATED = b"HTTP/1.1 201"


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """A server under measurement."""

    name: str
    module: str
    way: str = ""


_OURS = Receiver(name="Parley", module="server_parley")
_BARE = Receiver(name="bare aiohttp", module="server_bare", way="bare")
_COMMIT = Receiver(name="bare aiohttp, group commit", module="server_bare", way="commit")
_LOGGING = Receiver(name="Parley, log line each", module="server_parley", way="info")
_LAYER = Receiver(name="Parley, HTTP alone", module="server_parley", way="layer")
_RECEIVERS = (_OURS, _LOGGING, _LAYER, _BARE, _COMMIT)
_TARGETS = (
    (_OURS, _BARE, 0.65),
    (_OURS, _COMMIT, 0.80),
    (_LAYER, _BARE, 0.80),
)
"""Issue 3; and what it leaves to HTTP itself."""


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--connections", type=int, default=_CONNECTIONS)


def measure(asked: argparse.Namespace) -> str:
    """Let them take turns, each a fresh process on an empty database."""
    runs: dict[str, list[Taken]] = {one.name: [] for one in _RECEIVERS}
    for number in range(asked.rounds):
        first = number % len(_RECEIVERS)
        for receiver in (*_RECEIVERS[first:], *_RECEIVERS[:first]):
            taken = _once(receiver, asked.connections, asked.seconds)
            runs[receiver.name].append(taken)
            rate = taken.requests / taken.seconds
            print(f"{receiver.name}: {rate:,.0f}/s", file=sys.stderr, flush=True)
    return "\n".join([f"{asked.connections} connections, {len(_BODY):,} bytes", *_report(runs)])


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
            f"{rates[_OURS.name] / rates[name]:.2f}x",
            f"{cpus[name] / cpus[_OURS.name]:.2f}x",
        ]
        for name, all_ in runs.items()
    ]
    heads = ("", "requests/s", "CPU ms", "p50 ms", "p99 ms", "fsync/s", "ours/it", "its CPU/ours")
    yield table(heads, rows)
    for one, other, target in _TARGETS:
        by_rate = rates[one.name] / rates[other.name]
        by_cpu = cpus[other.name] / cpus[one.name]
        for share, how in ((by_rate, ""), (by_cpu, ", by CPU")):
            told = f"{one.name}: {share:.0%} of {other.name}{how}"
            yield verdict(told, f"at least {target:.0%}", met=share >= target)


def _latency(runs: Sequence[Taken], share: float) -> str:
    return f"{median(one.percentile(share) for one in runs):.1f}"


def _once(receiver: Receiver, connections: int, seconds: float) -> Taken:
    key, port = secrets.token_hex(32), free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", f"bench.gateway.{receiver.module}", folder, str(port)]
        settings = {"BENCH_KEY": key}
        where = Path(folder)
        fsyncs = fsyncs_per_second(0.3)
        with process([*command, receiver.way], where, settings, port, "/readyz") as server:
            request = _request(key)
            asyncio.run(_press(port, request, connections, _WARM_UP_SECONDS))
            cpu, wall = usage(server.pid).cpu_seconds, time.perf_counter()
            latencies = asyncio.run(_press(port, request, connections, seconds))
            return Taken(
                requests=len(latencies),
                seconds=time.perf_counter() - wall,
                cpu_seconds=usage(server.pid).cpu_seconds - cpu,
                latencies=latencies,
                fsyncs=fsyncs,
            )


# The client: as little as can be, so that it is the server that is measured


def _request(key: str) -> bytes:
    signature = hmac.new(key.encode(), _BODY, hashlib.sha256).hexdigest()
    heads = [
        "POST /v1/threads HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(_BODY)}",
        f"Authorization: Bearer {key}",
        f"X-Signature: {signature}",
    ]
    return "\r\n".join([*heads, "", ""]).encode() + _BODY


async def _press(port: int, request: bytes, connections: int, seconds: float) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(request)
            await _read_created(reader)
            latencies.append(time.perf_counter() - began)
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(one())
    return latencies


async def _read_created(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0].partition(b":")[2]))
    if not head.startswith(_CREATED):
        raise EntrantFailed(f"{head.decode()}{body.decode(errors='replace')}")
