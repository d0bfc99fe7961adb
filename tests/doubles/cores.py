"""How long processes waited for a core: on a busy machine that is no slowness of theirs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_NS = 1e9


def waited_for_cores(*pids: int) -> float:
    """Give the seconds that these processes' threads were ready and did not run; 0 if unknown."""
    return sum(_waited(pid) for pid in pids)


def _waited(pid: int) -> float:
    total = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has ended meanwhile
            total += int(task.read_text().split()[1]) / _NS
    return total
