"""Running `parley` quickly: one warm program for all tests of this process, by `warm_server`."""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def _warm_program() -> Path:
    """Start it when the first test asks; give its socket."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    door = Path(folder.name) / "door"
    program = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.doubles.warm_server", str(door)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n", "the warm program did not start"

    def end() -> None:
        program.communicate()
        folder.cleanup()

    atexit.register(end)
    return door


@dataclass
class Supervisor:
    """Starts one process after the other, in one folder."""

    _answers: asyncio.StreamReader
    _orders: asyncio.StreamWriter

    async def start(
        self, arguments: Sequence[str], *, environ: Mapping[str, str] | None = None, out: str = ""
    ) -> int:
        """Run `parley` with these arguments, its output to `out`; give its process id."""
        self._orders.write(_order(arguments, environ=environ, out=out))
        return await self._number()

    async def ended(self) -> int:
        """Wait for the end of what was started, and give its exit code."""
        return await self._number()

    async def _number(self) -> int:
        line = await self._answers.readline()
        assert line, "the supervisor has died"
        return int(line)


@asynccontextmanager
async def supervisor(
    folder: Path, environ: Mapping[str, str], *, log: str = "server.log"
) -> AsyncIterator[Supervisor]:
    """Give one for a folder; what is still running at the end is for the caller to end before."""
    door = await asyncio.to_thread(_warm_program)
    answers, orders = await asyncio.open_unix_connection(door)
    orders.write(_place(folder, environ, folder / log))
    try:
        yield Supervisor(answers, orders)
    finally:
        orders.write_eof()
        await answers.read()  # until it has gone, and what it measured is written
        orders.close()
        await orders.wait_closed()


def run_parley(
    arguments: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    *,
    stdin: str = "",
    seconds: float,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as `subprocess.run` does."""
    with tempfile.TemporaryDirectory() as aside, socket.socket(socket.AF_UNIX) as line:
        given, out, err = (Path(aside) / name for name in ("in", "out", "err"))
        given.write_text(stdin, encoding="utf-8")
        line.settimeout(seconds)
        line.connect(str(_warm_program()))
        line.sendall(_place(folder, environ, err))
        line.sendall(_order(arguments, out=str(out), stdin=str(given)))
        line.shutdown(socket.SHUT_WR)
        with line.makefile(encoding="utf-8") as answers:
            _, code = map(int, answers)
        said = [path.read_text(encoding="utf-8") for path in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *said)


def _place(folder: Path, environ: Mapping[str, str], log: Path) -> bytes:
    return _line({"folder": str(folder), "environ": dict(environ), "log": str(log)})


def _order(
    arguments: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    out: str = "",
    stdin: str = "",
) -> bytes:
    more = {"environ": dict(environ or {}), "out": out, "stdin": stdin}
    return _line({"arguments": list(arguments), **more})


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"
