"""Charts as numbers: where each bar and line stands. A template draws them; nothing here is markup.

Pure. All lengths are in the units of the picture's own grid, so that it scales with the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

WIDTH: Final = 640
HEIGHT: Final = 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 10, 26
_GAP: Final = 0.25
_TICKS: Final = 4


class Bar(Struct, frozen=True, kw_only=True, gc=False):
    """One rectangle, which part of the whole it stands for, and what it says."""

    x: float
    y: float
    width: float
    height: float
    part: str
    says: str


class Tick(Struct, frozen=True, gc=False):
    """A mark on an axis."""

    at: float
    label: str


class Line(Struct, frozen=True, kw_only=True, gc=False):
    """Points that belong together; a gap in the data is a gap in the line."""

    part: str
    runs: tuple[str, ...]
    """Each as the `points` of a polyline."""
    dots: tuple[tuple[float, float, str], ...]


class Chart(Struct, frozen=True, kw_only=True, gc=False):
    """A picture with its axes."""

    width: int
    height: int
    left: int
    bottom: float
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def stacked(labels: Sequence[str], parts: Sequence[str], counts: Sequence[Sequence[int]]) -> Chart:
    """Stack the parts of each column; `counts` has a row for each label."""
    top = _nice(max((sum(row) for row in counts), default=0))
    bars: list[Bar] = []
    for at, row in enumerate(counts):
        x, width = _column(at, len(labels))
        under = 0
        for part, count in zip(parts, row, strict=True):
            if count:
                y = _y(under + count, top)
                bar = Bar(
                    x=_round(x),
                    y=y,
                    width=_round(width),
                    height=_round(_y(under, top) - y),
                    part=part,
                    says=f"{labels[at]}: {count} {part}",
                )
                bars.append(bar)
                under += count
    return _chart(labels, top, bars=tuple(bars))


def lines(
    labels: Sequence[str], parts: Sequence[str], values: Sequence[Sequence[float | None]], unit: str
) -> Chart:
    """Draw a line for each part; `values` has a row for each label."""
    known = [one for row in values for one in row if one is not None]
    top = _nice(max(known, default=0))
    drawn = tuple(
        _line(part, [row[index] for row in values], labels, top, unit)
        for index, part in enumerate(parts)
    )
    return _chart(labels, top, lines=drawn)


def _line(
    part: str, values: Sequence[float | None], labels: Sequence[str], top: float, unit: str
) -> Line:
    runs: list[list[str]] = [[]]
    dots: list[tuple[float, float, str]] = []
    for at, value in enumerate(values):
        if value is None:
            runs.append([])
            continue
        x, width = _column(at, len(labels))
        spot = (_round(x + width / 2), _y(value, top))
        runs[-1].append(f"{spot[0]},{spot[1]}")
        dots.append((*spot, f"{labels[at]}: {part} {number(value)} {unit}"))
    return Line(part=part, runs=tuple(" ".join(run) for run in runs if run[1:]), dots=tuple(dots))


def number(value: float) -> str:
    """Write a number as people do: no more digits than it needs."""
    if value >= 100 or value == int(value):  # noqa: PLR2004 (from there on nobody reads fractions)
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _chart(
    labels: Sequence[str],
    top: float,
    *,
    bars: tuple[Bar, ...] = (),
    lines: tuple[Line, ...] = (),
) -> Chart:
    every = max(1, math.ceil(len(labels) / 7))
    across = tuple(
        Tick(_round(_column(at, len(labels))[0] + _column(at, len(labels))[1] / 2), label)
        for at, label in enumerate(labels)
        if (len(labels) - 1 - at) % every == 0
    )
    up = tuple(
        Tick(_y(top * step / _TICKS, top), number(top * step / _TICKS))
        for step in range(_TICKS + 1)
    )
    return Chart(
        width=WIDTH,
        height=HEIGHT,
        left=_LEFT,
        bottom=HEIGHT - _BOTTOM,
        bars=bars,
        lines=lines,
        across=across,
        up=up,
    )


def _column(at: int, count: int) -> tuple[float, float]:
    """Give where a column begins, and how wide it is."""
    whole = (WIDTH - _LEFT - _RIGHT) / max(1, count)
    return _LEFT + whole * at + whole * _GAP / 2, whole * (1 - _GAP)


def _y(value: float, top: float) -> float:
    return _round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top)


def _nice(most: float) -> float:
    """Round up to what an axis can be divided by four with a good conscience."""
    if most <= _TICKS:
        return _TICKS
    step = math.pow(10, math.floor(math.log10(most / _TICKS)))
    return next(
        step * factor * _TICKS for factor in (1, 2, 2.5, 5, 10) if step * factor * _TICKS >= most
    )


def _round(value: float) -> float:
    return round(value, 1)
