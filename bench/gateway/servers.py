"""Servers as processes: start one, wait until it is ready, see what it uses, stop it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.gateway.entrants import EntrantFailed, environment

_PATIENCE = 60.0
_LOOK = 0.02
_MB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that is ready."""

    pid: int
    port: int
    began: float

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a process has used so far."""

    cpu_seconds: float
    rss_mb: float
    seconds: float


def usage(pid: int, began: float = 0.0) -> Usage:
    """Ask the system about a process."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = int(stat[11]) + int(stat[12])  # user and system time: fields 14 and 15 of proc(5)
    pages = int(stat[21])
    return Usage(
        cpu_seconds=ticks / os.sysconf("SC_CLK_TCK"),
        rss_mb=pages * os.sysconf("SC_PAGE_SIZE") / _MB,
        seconds=time.perf_counter() - began,
    )


@contextmanager
def parley(folder: Path) -> Iterator[Server]:
    """Run `parley serve` on the database in a folder."""
    port = free_port()
    settings = {
        "PARLEY_DATABASE_URL": f"sqlite:///{folder / 'parley.db'}",
        "PARLEY_AGENTS": "bench.gateway.desk",
        "PARLEY_PORT": str(port),
        "PARLEY_LOG": "warning/text",
    }
    command = [sys.executable, "-m", "gateway", "serve"]
    with process(command, folder, settings, port, "/readyz") as server:
        yield server


@contextmanager
def process(
    command: list[str], folder: Path, settings: dict[str, str], port: int, path: str
) -> Iterator[Server]:
    """Run a server until the block ends."""
    began = time.perf_counter()
    with (folder / "server.log").open("wb") as log:
        running = subprocess.Popen(  # noqa: S603 (our own module, no shell)
            command, cwd=folder, env=environment() | settings, stdout=log, stderr=log
        )
    try:
        _until_ready(running, f"http://127.0.0.1:{port}{path}", folder)
        yield Server(pid=running.pid, port=port, began=began)
    finally:
        running.terminate()
        try:
            running.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            running.kill()


def _until_ready(running: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    end = time.perf_counter() + _PATIENCE
    while time.perf_counter() < end and running.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 (our own server)
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(_LOOK)
    log = (folder / "server.log").read_text(encoding="utf-8", errors="replace")
    raise EntrantFailed(f"{running.args!r} did not become ready:\n{log[-2000:]}")


def free_port() -> int:
    """Find a port that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
