"""The peers' own virtual environments: made on demand, kept in `bench/.venvs`, never ours.

A peer's requirements must not meet ours, and a user of Parley must not need them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_VENVS = Path(__file__).parent / ".venvs"
_STAMP = "installed.txt"
_TIMEOUT_SECONDS = 600


class PeerUnavailable(Exception):
    """A peer could not be installed; the others can still be measured."""


def requirements(pins: Path) -> dict[str, list[str]]:
    """Read a `peers.txt`: what to install, by the name of the environment."""
    lines = pins.read_text(encoding="utf-8").splitlines()
    wanted = [line.split() for line in lines if line and not line.startswith("#")]
    return {re.split(r"[^\w.-]", first, maxsplit=1)[0]: [first, *rest] for first, *rest in wanted}


def peer_python(name: str, pins: Path) -> Path:
    """Give the peer's interpreter, after making its environment if it isn't there yet."""
    folder, wanted = _VENVS / name, requirements(pins)[name]
    stamp, python = folder / _STAMP, folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text(encoding="utf-8").split() == wanted:
        return python
    print(f"installing {' '.join(wanted)} in {folder}", file=sys.stderr)
    _run(sys.executable, "-m", "venv", "--clear", str(folder))
    _run(str(python), "-m", "pip", "install", "-q", "--no-input", *wanted)
    stamp.write_text("\n".join(wanted), encoding="utf-8")
    return python


def _run(*command: str) -> None:
    done = subprocess.run(  # noqa: S603  (pins from our own file, no shell)
        command, check=False, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS
    )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-3:])
        raise PeerUnavailable(f"{' '.join(command)}\n{last}")
