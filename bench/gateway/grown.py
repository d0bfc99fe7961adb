"""What a further step of a long thread costs. Standard library only: it runs with peers, too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Self

RELOADS = 5
STEPS = 100
"""At each size; a snapshot that is made now and then is among them."""

_PROSE = (
    "The customer wrote that the parcel came late, and asks whether we could send the money back "
    "or offer another day for the delivery, because she will be away until the end of the month. "
)
_CHARACTERS = 200


@dataclass(frozen=True, kw_only=True)
class Grown:
    """One size: medians and means over some steps. A line of JSON on standard output."""

    earlier: int
    step_ms: float
    mean_ms: float
    cpu_ms: float
    stored: float
    """Bytes that the database has grown by, each step."""
    written: float
    """Bytes that went to the disk, each step."""
    reload_ms: float

    @classmethod
    def of(
        cls,
        earlier: int,
        times: Sequence[float],
        *,
        cpu_seconds: float,
        stored: int,
        written: int,
        reloads: Sequence[float],
    ) -> Self:
        """Sum some steps up."""
        steps = len(times)
        return cls(
            earlier=earlier,
            step_ms=1000 * median(times),
            mean_ms=1000 * sum(times) / steps,
            cpu_ms=1000 * cpu_seconds / steps,
            stored=stored / steps,
            written=written / steps,
            reload_ms=1000 * median(reloads),
        )


def say(grown: Grown) -> None:
    """Write a line."""
    print(json.dumps(asdict(grown)), flush=True)


def text_of(number: int) -> str:
    """Write a message, English-like."""
    return f"Message {number}. {_PROSE}{_PROSE}"[:_CHARACTERS]


def written_bytes() -> int:
    """Ask the system what this process has sent to the disk."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["write_bytes"])
