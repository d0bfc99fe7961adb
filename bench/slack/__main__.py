"""Signed mention → acknowledgement over HTTP, beside Bolt with an empty listener."""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
from collections.abc import Iterator

from bench.doors import HEADS, Door, Runs, add_arguments, cells, medians, take_turns
from bench.gateway.entrants import EntrantFailed
from bench.gateway.tables import table, verdict
from bench.slack.mentions import request

_PREPARED = 40_000
_TARGET = 0.60
"""Issue 4."""
_DONE = b"HTTP/1.1 200"

_OURS = "bench.slack.server_parley"
_BOLT = Door(name="Bolt, an empty listener", module="bench.slack.server_bolt", done=_DONE)
_LIST = Door(name="Parley, into a list", module=_OURS, way="list", done=_DONE)
_GATEWAY = Door(name="Parley, durable on SQLite", module=_OURS, way="gateway", done=_DONE)


def main() -> int:
    """Let them take turns, each a fresh process in an empty folder."""
    parser = argparse.ArgumentParser(prog="python -m bench.slack", description=__doc__)
    add_arguments(parser)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    print(f"load {os.getloadavg()[0]:.1f}, {asked.connections} connections", flush=True)
    try:
        runs = take_turns((_BOLT, _LIST, _GATEWAY), _mentions, asked)
    except EntrantFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    print("\n".join(_report(runs)))
    return 0


def _mentions(_door: Door, _key: str) -> Iterator[bytes]:
    return itertools.cycle([request(number) for number in range(_PREPARED)])


def _report(runs: Runs) -> Iterator[str]:
    rates, cpus = medians(runs)
    rows = [
        [
            name,
            f"{rates[name]:,.0f}",
            *cells(taken),
            f"{rates[name] / rates[_BOLT.name]:.2f}x",
            f"{cpus[_BOLT.name] / cpus[name]:.2f}x",
        ]
        for name, taken in runs.items()
    ]
    yield table(("", "mentions/s", *HEADS, "of Bolt", "by CPU"), rows)
    for door in (_LIST, _GATEWAY):
        share = rates[door.name] / rates[_BOLT.name]
        told = f"{door.name}: {share:.0%} of Bolt's rate"
        yield verdict(told, f"at least {_TARGET:.0%}", met=share >= _TARGET)


if __name__ == "__main__":
    sys.exit(main())
