"""The real server, as a child: started, killed at will, and started again when it has died.

What systemd would do for it. Its output goes to a file; nothing of it is read here.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import gateway
from gateway.playground.scene import Life

_ROOT = Path(gateway.__file__).parents[1]
_AT_ONCE = 3
"""So many that never answered, one after the other: it will not get better."""
_GENTLY = 5.0
_PR_SET_PDEATHSIG = 1


class ServerFailed(Exception):
    """The server does not start: our bug, or a machine in trouble. The text is its own."""


@dataclass
class ServerProcess:
    """One after the other, on the same folder."""

    environ: Mapping[str, str]
    log: Path
    on_change: Callable[[], None]
    lives: list[Life] = field(default_factory=list)
    _process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Keep a server running until cancelled; then stop it, gently if it can be."""
        try:
            while not self._is_hopeless():
                await self._live()
        finally:
            await self._stop()
        raise ServerFailed(self.log.read_text(errors="replace")[-2000:])

    async def _live(self) -> None:
        with self.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gateway", "serve"),
                cwd=self.log.parent,
                env={**self.environ, "PYTHONPATH": str(_ROOT)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is ours to hear: it gets its own goodbye
                preexec_fn=_die_with_us,
            )
        self.lives.append(Life(pid=self._process.pid, started=time.time()))
        self.on_change()
        code = await self._process.wait()
        self.lives[-1] = replace(self.lives[-1], ended=time.time(), code=code)
        self.on_change()

    def answered(self) -> None:
        """Note that the server has answered for the first time."""
        if self.lives and self.lives[-1].ready is None and self.lives[-1].ended is None:
            self.lives[-1] = replace(self.lives[-1], ready=time.time())
            self.on_change()

    def kill(self) -> int | None:
        """Kill it as the kernel does when memory is out; give whom, if there was anybody."""
        process = self._process
        if process is None or process.returncode is not None:
            return None
        with suppress(ProcessLookupError):
            process.kill()
        return process.pid

    def _is_hopeless(self) -> bool:
        last = self.lives[-_AT_ONCE:]
        return len(last) == _AT_ONCE and all(
            one.ready is None and not one.was_killed for one in last
        )

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _GENTLY)
        except TimeoutError:
            process.kill()
            await process.wait()


def _die_with_us() -> None:
    """Ask Linux to end the child when we are ended without a chance to do it ourselves."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
