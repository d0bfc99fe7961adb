"""Bars: on a terminal one for each part; in a pipe nothing."""

from __future__ import annotations

import os
import subprocess
import sys

_WORK = """
from gateway.cli.doing.bars import bars
with bars("rows") as advance:
    for done in range(0, 11, 5):
        advance("events", done, 10)
    advance("threads", 3, 3)
"""


def run(stderr: int) -> None:
    """Do something that takes long."""
    subprocess.run([sys.executable, "-c", _WORK], stderr=stderr, check=True, timeout=30)


def test_terminal_shows_a_bar_for_each_part_with_its_count() -> None:
    """How much of it is done, of how much, and of what."""
    ours, theirs = os.openpty()
    run(theirs)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)

    assert "events" in shown
    assert "10/10" in shown
    assert "3/3" in shown
    assert "rows" in shown


def test_pipe_gets_nothing() -> None:
    """Nobody looks, and a log would be full of it."""
    ours, theirs = os.pipe()
    run(theirs)
    os.close(theirs)

    assert os.read(ours, 65536) == b""
    os.close(ours)
