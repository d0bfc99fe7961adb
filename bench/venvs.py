"""The peers' own virtual environments: made on demand, kept in `bench/.venvs`, never ours.

A peer's requirements must not meet ours, and a user of Parley must not need them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

_VENVS = Path(__file__).parent / ".venvs"
_STAMP = "installed.txt"
_TIMEOUT_SECONDS = 600


class Entrant(Protocol):
    """Who takes part in a benchmark."""

    @property
    def name(self) -> str:
        """Give what it is called."""
        ...

    def python(self) -> str:
        """Find the interpreter, installing the peer on its first use."""
        ...


_Entrant = TypeVar("_Entrant", bound=Entrant)


class PeerUnavailable(Exception):
    """A peer could not be installed; the others can still be measured."""


def available(entrants: Iterable[_Entrant], only: Sequence[str]) -> Iterator[_Entrant]:
    """Give those who can be run and, if any are named, whose name begins so."""
    for entrant in entrants:
        if only and not entrant.name.lower().startswith(tuple(name.lower() for name in only)):
            continue
        try:
            entrant.python()
        except PeerUnavailable as missing:
            print(f"{entrant.name} is left out: {missing}", file=sys.stderr, flush=True)
        else:
            yield entrant


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
