"""Signed request → durable acknowledgement over HTTP, beside bare aiohttp."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import itertools
import json
from collections.abc import Iterator

from bench.doors import HEADS, Door, Runs, add_arguments, cells, medians, take_turns
from bench.gateway.tables import table, verdict

__all__ = ["add_arguments", "measure"]

BODY = json.dumps({"agent": "desk", "text": "The parcel came late. " * 75}).encode()

_PARLEY = "bench.gateway.server_parley"
_OURS = Door(name="Parley", module=_PARLEY)
_LOGGING = Door(name="Parley, log line each", module=_PARLEY, way="info")
_LAYER = Door(name="Parley, HTTP alone", module=_PARLEY, way="layer")
BARE = Door(name="bare aiohttp", module="bench.gateway.server_bare", way="bare")
COMMIT = Door(name="bare aiohttp, group commit", module="bench.gateway.server_bare", way="commit")
_DOORS = (_OURS, _LOGGING, _LAYER, BARE, COMMIT)
_TARGETS = ((_OURS, BARE, 0.65), (_OURS, COMMIT, 0.80), (_LAYER, BARE, 0.80))
"""Issue 3; and what it leaves to HTTP itself."""


def measure(asked: argparse.Namespace) -> str:
    """Let them take turns, each a fresh process on an empty database."""
    runs = take_turns(_DOORS, _requests, asked)
    heading = f"{asked.connections} connections, {len(BODY):,} bytes"
    return "\n".join([heading, *report(runs, _OURS, _TARGETS)])


def report(runs: Runs, ours: Door, targets: tuple[tuple[Door, Door, float], ...]) -> Iterator[str]:
    """Write the table, and whether each target was met, by rate and by CPU."""
    rates, cpus = medians(runs)
    rows = [
        [
            name,
            f"{rates[name]:,.0f}",
            *cells(taken),
            f"{rates[ours.name] / rates[name]:.2f}x",
            f"{cpus[name] / cpus[ours.name]:.2f}x",
        ]
        for name, taken in runs.items()
    ]
    yield table(("", "requests/s", *HEADS, "ours/it", "its CPU/ours"), rows)
    for one, other, target in targets:
        by_rate = rates[one.name] / rates[other.name]
        by_cpu = cpus[other.name] / cpus[one.name]
        for share, how in ((by_rate, ""), (by_cpu, ", by CPU")):
            told = f"{one.name}: {share:.0%} of {other.name}{how}"
            yield verdict(told, f"at least {target:.0%}", met=share >= target)


def _requests(_door: Door, key: str) -> Iterator[bytes]:
    signature = hmac.new(key.encode(), BODY, hashlib.sha256).hexdigest()
    heads = [
        "POST /v1/threads HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
        f"Authorization: Bearer {key}",
        f"X-Signature: {signature}",
    ]
    return itertools.repeat("\r\n".join([*heads, "", ""]).encode() + BODY)
