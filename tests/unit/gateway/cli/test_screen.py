"""The terminal's libraries are loaded by what is laid out, and by nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["serving", "calls", "threads", "questions", "launching"])
def test_commands_load_no_terminal_library_before_they_lay_something_out(module: str) -> None:
    """A server never does, nor does a command with `--json`: they start sooner without."""
    code = f"import sys, gateway.cli.doing.{module}; print('rich' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "False\n"
