"""From the listener to the durable acknowledgement: mails a second, beside a bare aiosmtpd.

Several connections press mail on a server, one after the other, as a mail server in front of it
would. Servers take turns, each a fresh process in an empty folder; figures are medians. CPU is that
of the server and its children, which read the mail.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.doors import HEADS, Runs, Taken, cells, medians
from bench.email.speed import MAIL
from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import EntrantFailed
from bench.gateway.servers import free_port, process, usage
from bench.gateway.tables import table

_SERVERS = {
    "Parley": "bench.email.server_parley",
    "bare aiosmtpd, group commit": "bench.email.server_bare",
}
_OURS = "Parley"
_WARM_UP_SECONDS = 1.0
_MAILS_A_CONNECTION = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=16)


def measure(asked: argparse.Namespace) -> str:
    """Let them take turns."""
    runs: Runs = {name: [] for name in _SERVERS}
    for _ in range(asked.rounds):
        for name, module in _SERVERS.items():
            taken = _once(module, asked.connections, asked.seconds)
            runs[name].append(taken)
            print(f"{name}: {taken.rate:,.0f}/s", file=sys.stderr, flush=True)
    return f"{asked.connections} connections, mails of {len(MAIL):,} bytes\n{_report(runs)}"


def _report(runs: Runs) -> str:
    rates, cpus = medians(runs)
    rows = [
        [
            name,
            f"{rates[name]:,.0f}",
            *cells(taken),
            f"{rates[_OURS] / rates[name]:.2f}x",
            f"{cpus[name] / cpus[_OURS]:.2f}x",
        ]
        for name, taken in runs.items()
    ]
    return table(("", "mails/s", *HEADS, "ours/it", "its CPU/ours"), rows)


def _once(module: str, connections: int, seconds: float) -> Taken:
    port, door = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, folder, str(port), str(door)]
        fsyncs = fsyncs_per_second(0.3)
        with process(command, Path(folder), {}, port, "/readyz") as server:
            mails = _mails()
            asyncio.run(_press(door, mails, connections, _WARM_UP_SECONDS))
            cpu, wall = _cpu(server.pid), time.perf_counter()
            latencies = asyncio.run(_press(door, mails, connections, seconds))
            return Taken(
                requests=len(latencies),
                seconds=time.perf_counter() - wall,
                cpu_seconds=_cpu(server.pid) - cpu,
                latencies=latencies,
                fsyncs=fsyncs,
            )


def _cpu(pid: int) -> float:
    """Sum up what a server and its children have used."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return sum(usage(one).cpu_seconds for one in (pid, *map(int, children)))


def _mails() -> Iterator[bytes]:
    """Write mails, each with an id of its own, as they go over the wire after DATA."""
    return (b"Message-ID: <%d@bench.example>\r\n%b.\r\n" % (n, MAIL) for n in itertools.count(1))


async def _press(
    port: int, mails: Iterator[bytes], connections: int, seconds: float
) -> list[float]:
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        while time.perf_counter() < end:  # as mail servers do: some mails, then a new connection
            await some()

    async def some() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await _answer(reader, b"220")
        await _say(reader, writer, b"EHLO bench.example\r\n", b"250")
        for _ in range(_MAILS_A_CONNECTION):
            began = time.perf_counter()
            if began >= end:
                break
            await _say(reader, writer, b"MAIL FROM:<ada@example.org>\r\n", b"250")
            await _say(reader, writer, b"RCPT TO:<agent@example.com>\r\n", b"250")
            await _say(reader, writer, b"DATA\r\n", b"354")
            await _say(reader, writer, next(mails), b"250")
            latencies.append(time.perf_counter() - began)
        writer.close()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(connections):
            tasks.create_task(one())
    return latencies


async def _say(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes, wanted: bytes
) -> None:
    writer.write(line)
    await _answer(reader, wanted)


async def _answer(reader: asyncio.StreamReader, wanted: bytes) -> None:
    while (line := await reader.readline()) and line[3:4] == b"-":
        pass
    if not line.startswith(wanted):
        raise EntrantFailed(line.decode(errors="replace"))
