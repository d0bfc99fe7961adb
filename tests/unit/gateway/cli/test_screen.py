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


def test_result_with_signs_that_the_log_has_not_is_no_failure() -> None:
    """A runner may have an odd encoding; what finished must exit 0 all the same."""
    said = r"screen.data('gr\u00fcn \U0001f9f5'); screen.say('\u2713')"
    code = f"from gateway.cli.doing import screen; {said}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        timeout=60,
        env={"PYTHONIOENCODING": "latin-1:strict"},
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"gr\xfcn ?\n", b"?\n")
