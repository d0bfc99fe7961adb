"""Run the benchmarks of the gateway: one, some or all. Tables go to standard output."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from typing import Protocol

from bench.gateway import cycles, growth, intake, start, waiting
from bench.gateway.entrants import EntrantFailed


class _Benchmark(Protocol):
    """A module that measures one thing."""

    @property
    def add_arguments(self) -> Callable[[argparse.ArgumentParser], None]:
        """Say what can be chosen."""
        ...

    @property
    def measure(self) -> Callable[[argparse.Namespace], str]:
        """Measure, and give the report."""
        ...


_BENCHMARKS: dict[str, _Benchmark] = {
    "cycles": cycles,
    "growth": growth,
    "intake": intake,
    "waiting": waiting,
    "start": start,
}


def main() -> int:
    """Measure what was asked for; without a name, everything with its defaults."""
    asked = _arguments()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    try:
        for name in [asked.name] if asked.name else _BENCHMARKS:
            options = asked if asked.name else _parser().parse_args([name])
            print(f"\n=== {name}: load {os.getloadavg()[0]:.1f}", flush=True)
            print(_BENCHMARKS[name].measure(options), flush=True)
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    return _parser().parse_args()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    names = parser.add_subparsers(dest="name")
    for name, benchmark in _BENCHMARKS.items():
        about = (sys.modules[f"bench.gateway.{name}"].__doc__ or "").splitlines()[0]
        benchmark.add_arguments(names.add_parser(name, help=about, description=about))
    return parser


if __name__ == "__main__":
    sys.exit(main())
