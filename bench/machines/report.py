"""What the heats told, as tables and verdicts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from bench.gateway.tables import at_least, table
from bench.machines.entrants import DBOS, FLOOR, LANGGRAPH, OURS, Heat, Result

Runs: TypeAlias = dict[tuple[str, Heat], list[Result]]
"""What was measured, by the entrant's name and the heat: one a round."""

_TARGETS = {
    (LANGGRAPH.name, 1): 3.0,
    (LANGGRAPH.name, 32): 6.0,
    (DBOS.name, 1): 1.0,
    (DBOS.name, 32): 1.0,
}
"""Issue 8, for one process."""


@dataclass(frozen=True, kw_only=True)
class _Summary:
    """One entrant in one heat: medians of the rounds."""

    name: str
    rate: float
    cpu_ms: float
    server_ms: float


def render(runs: Runs) -> str:
    """Write a table for each heat, what was wanted of it, and how it grows."""
    heats = list(dict.fromkeys(heat for _, heat in runs))
    tables = {heat: _rows(runs, heat) for heat in heats}
    return "\n".join([*_heats(tables), *_growth(tables)])


def _rows(runs: Runs, heat: Heat) -> dict[str, _Summary]:
    return {
        name: _summary(name, rounds)
        for (name, one), rounds in runs.items()
        if one == heat and rounds
    }


def _summary(name: str, rounds: Sequence[Result]) -> _Summary:
    return _Summary(
        name=f"{name} ({rounds[0].version})",
        rate=median(one.cycles / one.seconds for one in rounds),
        cpu_ms=median(1000 * one.cpu_seconds / one.cycles for one in rounds),
        server_ms=median(1000 * one.server_seconds / one.cycles for one in rounds),
    )


def _heats(tables: Mapping[Heat, Mapping[str, _Summary]]) -> Iterator[str]:
    for heat, rows in tables.items():
        yield f"\n{heat.processes} process(es), {heat.at_once} at once in all"
        yield _block(rows)
        if heat.processes == 1:
            yield from _verdicts(rows, heat.at_once)


def _block(rows: Mapping[str, _Summary]) -> str:
    heads = ("", "cycles/s", "CPU ms", "server CPU ms", "ours/it", "its CPU/ours")
    mine = rows.get(OURS.name)
    lines = []
    for row in rows.values():
        ratios = ["-", "-"]
        if mine is not None and row is not mine:
            ratios = [f"{mine.rate / row.rate:,.2f}x", f"{row.cpu_ms / mine.cpu_ms:,.2f}x"]
        figures = (row.rate, row.cpu_ms, row.server_ms)
        lines.append([row.name, *(f"{one:,.2f}" for one in figures), *ratios])
    return table(heads, lines)


def _verdicts(rows: Mapping[str, _Summary], at_once: int) -> Iterator[str]:
    mine = rows.get(OURS.name)
    if mine is None:
        return
    for (name, many), target in _TARGETS.items():
        if many == at_once and name in rows:
            yield at_least(f"{name}, {at_once} at once", mine.rate / rows[name].rate, target)
    if FLOOR.name in rows:
        floor = rows[FLOOR.name]
        engine = mine.cpu_ms - floor.cpu_ms
        peer = rows.get(LANGGRAPH.name)
        beside = f", which is {floor.rate / peer.rate:,.1f}x {LANGGRAPH.name}" if peer else ""
        yield f"        {mine.rate / floor.rate:.2f}x the floor{beside}"
        yield f"        {engine:.2f} of our {mine.cpu_ms:.2f} ms of CPU a cycle are not the rows"


def _growth(tables: Mapping[Heat, Mapping[str, _Summary]]) -> Iterator[str]:
    """Tell what a second and a fourth process bring."""
    crowds = {heat.processes: rows for heat, rows in tables.items() if heat.at_once > 1}
    one = crowds.get(1, {})
    names = [name for name in one if all(name in rows for rows in crowds.values())]
    if len(crowds) > 1 and names:
        yield "\nhow it grows with processes, against one"
        heads = ("", *(str(number) for number in crowds))
        yield table(
            heads,
            [
                [name, *(f"{rows[name].rate / one[name].rate:.2f}x" for rows in crowds.values())]
                for name in names
            ],
        )
