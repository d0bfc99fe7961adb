"""Durable pause/resume cycles: launch → question → answer → finish, beside peers and a floor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import (
    DBOS,
    DEFAULT,
    ENTRANTS,
    EXIT,
    FLOOR,
    MESSAGES,
    MESSAGES_EXIT,
    OPENAI_AGENTS,
    OURS,
    PYDANTIC_AI,
    Entrant,
    EntrantFailed,
    run,
)
from bench.gateway.stopwatch import Cycles
from bench.gateway.tables import at_least, at_most, table
from bench.venvs import available

Runs = dict[tuple[str, int], list[Cycles]]
"""What was measured, by the entrant's name and how many at once: one a round."""

_TARGETS = {
    (DEFAULT.name, 1): 5.0,
    (DEFAULT.name, 32): 15.0,
    (MESSAGES.name, 1): 5.0,
    (MESSAGES.name, 32): 15.0,
    (EXIT.name, 1): 3.0,
    (EXIT.name, 32): 8.0,
    (MESSAGES_EXIT.name, 1): 3.0,
    (MESSAGES_EXIT.name, 32): 8.0,
    (DBOS.name, 1): 1.0,
    (DBOS.name, 32): 1.0,
    (PYDANTIC_AI.name, 1): 1.0,
    (PYDANTIC_AI.name, 32): 1.0,
    (OPENAI_AGENTS.name, 1): 1.0,
    (OPENAI_AGENTS.name, 32): 1.0,
}
_TARGET_BYTES = 0.2
"""Issue 3."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One entrant, so many at once: medians of the rounds."""

    name: str
    version: str
    rate: float
    cpu_ms: float
    bytes: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of cycles, each time")
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--only", nargs="+", default=[], help="entrants whose name begins so")


def measure(asked: argparse.Namespace) -> str:
    """Let everybody take turns, beginning with another one each round, and write the tables."""
    entrants = list(available(ENTRANTS, asked.only))
    runs: Runs = {(one.name, many): [] for many in asked.at_once for one in entrants}
    fsyncs: list[float] = []
    for entrant, many in _schedule(entrants, asked.at_once, asked.rounds):
        fsyncs.append(fsyncs_per_second())
        measured = _run(entrant, many, asked.seconds)
        if measured is not None:
            runs[entrant.name, many].append(measured)
            rate = measured.cycles / measured.seconds
            _tell(f"{entrant.name}, {many} at once: {rate:,.1f}/s, fsync/s {fsyncs[-1]:,.0f}")
    disk = f"fsync/s {median(fsyncs):,.0f} (from {min(fsyncs):,.0f} to {max(fsyncs):,.0f})"
    return "\n".join([disk, *_report(runs)])


def _schedule(
    entrants: Sequence[Entrant], sizes: Sequence[int], rounds: int
) -> Iterator[tuple[Entrant, int]]:
    for number in range(rounds):
        first = number % len(entrants)
        for many in sizes:
            for entrant in (*entrants[first:], *entrants[:first]):
                yield entrant, many


def _run(entrant: Entrant, many: int, seconds: float) -> Cycles | None:
    arguments = ("--way", entrant.way, "--at-once", str(many), "--seconds", str(seconds))
    try:
        return Cycles(**run(entrant.python(), entrant.module, *arguments))
    except EntrantFailed as failed:
        if entrant is OURS:
            raise
        _tell(f"{entrant.name} is left out of this round: {failed}")
        return None


def _report(runs: Runs) -> Iterator[str]:
    for many in sorted({many for _, many in runs}):
        rows = {
            name: _summary(name, rounds)
            for (name, size), rounds in runs.items()
            if size == many and rounds
        }
        yield f"\n{many} at once"
        yield _block(rows)
        yield from _verdicts(rows, many)


def _summary(name: str, rounds: Sequence[Cycles]) -> Summary:
    return Summary(
        name=name,
        version=rounds[0].version,
        rate=median(one.cycles / one.seconds for one in rounds),
        cpu_ms=median(1000 * one.cpu_seconds / one.cycles for one in rounds),
        bytes=median(one.stored_bytes / one.cycles for one in rounds),
    )


def _block(rows: Mapping[str, Summary]) -> str:
    heads = ("", "cycles/s", "CPU ms", "bytes", "ours/it", "its CPU/ours", "our bytes/its")
    mine = rows.get(OURS.name)
    lines = []
    for row in rows.values():
        ratios = ["-"] * 3
        if mine is not None and row is not mine:
            numbers = (mine.rate / row.rate, row.cpu_ms / mine.cpu_ms, mine.bytes / row.bytes)
            ratios = [f"{number:,.2f}x" for number in numbers]
        figures = [f"{row.rate:,.1f}", f"{row.cpu_ms:,.2f}", f"{row.bytes:,.0f}"]
        lines.append([f"{row.name} ({row.version})", *figures, *ratios])
    return table(heads, lines)


def _verdicts(rows: Mapping[str, Summary], many: int) -> Iterator[str]:
    mine = rows.get(OURS.name)
    if mine is None:
        return
    for (name, size), target in _TARGETS.items():
        if size == many and name in rows:
            its = rows[name]
            yield at_least(f"{name}, {many} at once", mine.rate / its.rate, target)
            yield at_least(f"{name}, {many} at once, by CPU", its.cpu_ms / mine.cpu_ms, target)
    for name in (DEFAULT.name, MESSAGES.name):
        if name in rows:
            yield at_most(f"{name}'s bytes", mine.bytes / rows[name].bytes, _TARGET_BYTES)
    if FLOOR.name in rows:
        floor = rows[FLOOR.name]
        peers = ", ".join(
            f"{floor.rate / row.rate:,.1f}x {row.name} ({row.cpu_ms / floor.cpu_ms:,.1f}x by CPU)"
            for row in rows.values()
            if row.name in (DEFAULT.name, EXIT.name)
        )
        yield f"        {mine.rate / floor.rate:.2f}x the floor, which is {peers or 'alone'}"


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
