"""Start to ready: CPU and memory of `parley serve`, beside importing everything eagerly."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.gateway.entrants import ROOT, environment
from bench.gateway.servers import Usage, parley, usage
from bench.gateway.tables import at_most, table, verdict

_TARGET_CPU = 0.45
_TARGET_MB = 60
"""Issue 3."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--rounds", type=int, default=5)


def measure(asked: argparse.Namespace) -> str:
    """Take turns at starting both."""
    ours: list[Usage] = []
    eager: list[Usage] = []
    for _ in range(asked.rounds):
        ours.append(_ours())
        eager.append(_eagerly())
    return _report(ours, eager)


def _report(ours: list[Usage], eager: list[Usage]) -> str:
    rows = [
        [
            name,
            f"{median(one.cpu_seconds for one in runs):.2f}",
            f"{median(one.rss_mb for one in runs):.1f}",
            f"{median(one.seconds for one in runs):.2f}",
        ]
        for name, runs in (("parley serve, ready", ours), ("everything imported", eager))
    ]
    cpu = median(one.cpu_seconds for one in ours) / median(one.cpu_seconds for one in eager)
    memory = median(one.rss_mb for one in ours)
    return "\n".join(
        [
            table(("", "CPU s", "RSS MB", "wall s"), rows),
            at_most("the CPU of importing everything", cpu, _TARGET_CPU),
            verdict(f"{memory:.1f} MB", f"at most {_TARGET_MB} MB", met=memory <= _TARGET_MB),
        ]
    )


def _ours() -> Usage:
    with tempfile.TemporaryDirectory() as folder, parley(Path(folder)) as server:
        return usage(server.pid, server.began)


def _eagerly() -> Usage:
    began = time.perf_counter()
    command = [sys.executable, "-m", "bench.gateway.eager"]
    with subprocess.Popen(  # noqa: S603 (our own module, no shell)
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        found = usage(process.pid, began)
        process.kill()
    return found
