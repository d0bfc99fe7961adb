"""A further step of a thread with thousands of earlier messages, on PostgreSQL, beside a peer."""

from __future__ import annotations

from collections.abc import Sequence

from bench.gateway.entrants import run_module
from bench.gateway.tables import at_least, table
from bench.machines.entrants import LANGGRAPH, OURS, Entrant
from bench.machines.server import Server

_MODULES = {OURS.name: "grow_parley", LANGGRAPH.name: "grow_langgraph"}
_TARGET = 20.0
"""Issue 8."""


def measure(entrants: Sequence[Entrant], earlier: int, server: Server) -> str:
    """Let each have a thread of that size and take further steps with it."""
    steps = {
        entrant.name: _step_ms(entrant, earlier, server)
        for entrant in entrants
        if entrant.name in _MODULES
    }
    lines = [[name, f"{wall:,.2f}", f"{cpu:,.2f}"] for name, (wall, cpu) in steps.items()]
    told = [f"\na further step after {earlier:,} messages"]
    told.append(table(("", "ms", "CPU ms"), lines))
    if len(steps) == len(_MODULES):
        [ours, _], [theirs, _] = steps[OURS.name], steps[LANGGRAPH.name]
        told.append(at_least(f"{LANGGRAPH.name} after {earlier:,}", theirs / ours, _TARGET))
    return "\n".join(told)


def _step_ms(entrant: Entrant, earlier: int, server: Server) -> tuple[float, float]:
    with server.database(has_our_tables=entrant.is_on_our_tables) as url:
        module = f"bench.machines.{_MODULES[entrant.name]}"
        told = run_module(entrant.python(), module, url, str(earlier))[-1]
        return told["step_ms"], told["cpu_ms"]
