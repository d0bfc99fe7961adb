"""The table: rates, CPU, sizes and ratios, from all rounds. Pure: numbers in, text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.core.workload import Measurement

Runs = Mapping[tuple[str, int], Sequence[Measurement]]
"""What was measured, by the entrant's name and the number of earlier messages: one a round."""

_NAME, _NUMBER = 30, 11
_TARGETS = {0: 20.0, 10_000: 100.0}
"""How many times Agently's rate ours shall be, by the number of earlier messages (issue 2)."""
_TARGET_SIZE = 1.3
"""How many times the messages' own JSON our checkpoint may take (issue 2)."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One entrant at one size."""

    name: str
    version: str
    rate: float
    best_rate: float
    cpu_ms: float
    checkpoint_bytes: int
    messages_bytes: int

    @property
    def growth(self) -> float:
        """How many times the messages' own JSON the checkpoint takes."""
        return self.checkpoint_bytes / self.messages_bytes


def summarize(name: str, rounds: Sequence[Measurement]) -> Summary:
    """Take the median of the rounds, and the best one beside it."""
    rates = [measured.cycles / measured.seconds for measured in rounds]
    return Summary(
        name=name,
        version=rounds[0].version,
        rate=median(rates),
        best_rate=max(rates),
        cpu_ms=median(1000 * measured.cpu_seconds / measured.cycles for measured in rounds),
        checkpoint_bytes=rounds[-1].checkpoint_bytes,
        messages_bytes=rounds[-1].messages_bytes,
    )


def render(runs: Runs, *, ours: str) -> str:
    """Write one block for each size, then how we stand against what we promised."""
    sizes = sorted({earlier for _, earlier in runs})
    lines: list[str] = []
    for earlier in sizes:
        rows = [summarize(name, rounds) for (name, size), rounds in runs.items() if size == earlier]
        lines += [*_block(earlier, rows, ours), ""]
    return "\n".join([*lines, *_verdicts(runs, ours)])


def _block(earlier: int, rows: Sequence[Summary], ours: str) -> Iterator[str]:
    yield f"{earlier:,} earlier messages (as JSON: {rows[0].messages_bytes:,} bytes)"
    heads = ("cycles/s", "best", "CPU ms", "saved bytes", "x JSON", "ours/it", "its CPU/ours")
    yield f"  {'':{_NAME}}" + "".join(f"{head:>{_NUMBER + 2}}" for head in heads)
    mine = next((row for row in rows if row.name == ours), None)
    for row in rows:
        growth = f"{row.growth:.2f}" if earlier else "-"
        cells = [f"{row.rate:,.1f}", f"{row.best_rate:,.1f}", f"{row.cpu_ms:,.2f}"]
        cells += [f"{row.checkpoint_bytes:,}", growth, *_ratios(row, mine)]
        title = f"{row.name} ({row.version})"
        yield f"  {title:{_NAME}}" + "".join(f"{cell:>{_NUMBER + 2}}" for cell in cells)


def _ratios(row: Summary, mine: Summary | None) -> tuple[str, str]:
    if mine is None or mine is row:
        return "-", "-"
    faster, cheaper = _times(mine, row)
    return f"{faster:,.1f}x", f"{cheaper:,.1f}x"


def _times(mine: Summary, its: Summary) -> tuple[float, float]:
    return mine.rate / its.rate, its.cpu_ms / mine.cpu_ms


def _verdicts(runs: Runs, ours: str) -> Iterator[str]:
    for (name, earlier), rounds in runs.items():
        mine, target = runs.get((ours, earlier)), _TARGETS.get(earlier)
        if mine and target and name.startswith("Agently"):
            faster, cheaper = _times(summarize(ours, mine), summarize(name, rounds))
            told = f"{faster:,.1f}x {name} at {earlier:,} ({cheaper:,.1f}x by CPU)"
            yield _verdict(told, f"at least {target:g}x", faster >= target)
        if name == ours and earlier:
            growth = summarize(name, rounds).growth
            told = f"checkpoint {growth:.2f}x the messages' JSON at {earlier:,}"
            yield _verdict(told, f"at most {_TARGET_SIZE:g}x", growth <= _TARGET_SIZE)


def _verdict(told: str, wanted: str, met: bool) -> str:  # noqa: FBT001  (private, one caller's word)
    return f"{'met   ' if met else 'MISSED'}  {told}  (wanted: {wanted})"
