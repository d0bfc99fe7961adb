"""Further steps of threads with 100 to 10,000 earlier messages: time and bytes, beside a peer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from bench.gateway.disk import fsyncs_per_second
from bench.gateway.entrants import DEFAULT, MESSAGES, OURS, Entrant, EntrantFailed, run_lines
from bench.gateway.grown import Grown
from bench.gateway.tables import at_most, table
from bench.venvs import PeerUnavailable

_SIZES = (100, 1_000, 5_000, 10_000)
_TARGET_FLAT = 1.2
_TARGET_SLOPE = 0.25
"""Issue 3."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be chosen."""
    parser.add_argument("--sizes", type=int, nargs="+", default=list(_SIZES))
    parser.add_argument("--only", default="", help="parley, to leave the peer out")


def measure(asked: argparse.Namespace) -> str:
    """Let ours grow, then the peer."""
    sizes = [str(size) for size in sorted(asked.sizes)]
    fsyncs = fsyncs_per_second()
    ours = [Grown(**line) for line in run_lines(OURS.python(), "grow_parley", *sizes)]
    peers = () if asked.only else (DEFAULT, MESSAGES)
    theirs = {peer.name: _peer(peer, sizes) for peer in peers}
    return "\n".join([f"fsync/s {fsyncs:,.0f}", *_report(ours, theirs)])


def _peer(peer: Entrant, sizes: Sequence[str]) -> list[Grown]:
    try:
        lines = run_lines(peer.python(), "grow_langgraph", peer.way, *sizes)
    except (PeerUnavailable, EntrantFailed) as failed:
        print(f"{peer.name} is left out: {failed}", file=sys.stderr)
        return []
    return [Grown(**line) for line in lines]


def _report(ours: Sequence[Grown], theirs: Mapping[str, Sequence[Grown]]) -> Iterator[str]:
    heads = ("earlier", "step ms", "mean ms", "CPU ms", "bytes stored", "written", "reload ms")
    for name, rows in {OURS.name: ours, **theirs}.items():
        if rows:
            yield f"\n{name}"
            yield table(heads, [_row(row) for row in rows])
    if len(ours) > 1:
        first, last = ours[0], ours[-1]
        about = f"at {last.earlier:,} against {first.earlier:,}"
        yield at_most(f"the time of a step {about}", last.step_ms / first.step_ms, _TARGET_FLAT)
        yield at_most(f"the CPU of a step {about}", last.cpu_ms / first.cpu_ms, _TARGET_FLAT)
        yield at_most(f"the bytes of a step {about}", last.stored / first.stored, _TARGET_FLAT)
        yield at_most(f"the bytes written {about}", last.written / first.written, _TARGET_FLAT)
        for name, rows in theirs.items():
            if len(rows) > 1:
                yield from _slopes(name, ours, rows)


def _row(grown: Grown) -> list[str]:
    times = (grown.step_ms, grown.mean_ms, grown.cpu_ms)
    return [
        f"{grown.earlier:,}",
        *(f"{one:,.2f}" for one in times),
        f"{grown.stored:,.0f}",
        f"{grown.written:,.0f}",
        f"{grown.reload_ms:,.1f}",
    ]


def _slopes(name: str, ours: Sequence[Grown], theirs: Sequence[Grown]) -> Iterator[str]:
    """Compare what each earlier message adds: to our full reload, and to each step of theirs."""
    messages = ours[-1].earlier - ours[0].earlier
    reload = ours[-1].reload_ms - ours[0].reload_ms
    step = theirs[-1].step_ms - theirs[0].step_ms
    their_reload = theirs[-1].reload_ms - theirs[0].reload_ms
    told = f"{name}'s slope: our full reload grows by {1000 * reload / messages:.1f} us a message"
    its = f"each of its steps by {1000 * step / messages:.1f}"
    yield at_most(f"{told}, {its}", reload / step, _TARGET_SLOPE)
    yield f"        (its own reading alone grows by {1000 * their_reload / messages:.1f} us)"
