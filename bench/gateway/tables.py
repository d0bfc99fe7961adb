"""Tables and verdicts as text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

_GAP = "  "


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right."""
    lines = [list(heads), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(_GAP + _line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = cells
    aligned = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
    return _GAP.join([first.ljust(widths[0]), *aligned]).rstrip()


def verdict(told: str, wanted: str, *, met: bool) -> str:
    """State a figure, what was wanted, and whether it is so."""
    return f"{'met   ' if met else 'MISSED'}  {told}  (wanted: {wanted})"


def at_least(told: str, value: float, target: float) -> str:
    """Judge a ratio that should be large."""
    return verdict(f"{value:,.2f}x {told}", f"at least {target:g}x", met=value >= target)


def at_most(told: str, value: float, target: float) -> str:
    """Judge a ratio that should be small."""
    return verdict(f"{value:,.2f}x {told}", f"at most {target:g}x", met=value <= target)
