"""Starting a worker and waiting for its end: which process it was, and how it ended."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import gateway
from gateway.demo.folder import Folder
from gateway.demo.replies import Answer
from gateway.demo.worker import REFUSED, SAVED

_ROOT = Path(gateway.__file__).parents[1]


class WorkerFailed(Exception):
    """A worker ended as none should: our bug, or a machine in trouble."""


@dataclass(frozen=True)
class Ended:
    """A process that is no more."""

    pid: int
    code: int
    words: str

    @property
    def was_refused(self) -> bool:
        """Whether it took the answer back to the person, with a reason."""
        return self.code == REFUSED


def run(folder: Folder, text: str) -> Ended:
    """Start the thread in a process of its own."""
    return _to_its_end("run", str(folder.path), text)


def resume(folder: Folder, answer: Answer) -> Ended:
    """Let another process go on with an answer."""
    given = json.dumps({"value": answer.value, "comment": answer.comment})
    return _to_its_end("resume", str(folder.path), stdin=given)


def _to_its_end(*arguments: str, stdin: str = "") -> Ended:
    # From our own root, so that nothing in the caller's folder is imported in place of ours.
    process = subprocess.Popen(  # noqa: S603 - our own program, from a list of arguments
        [sys.executable, "-m", "gateway.demo.worker", *arguments],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    with process:
        try:
            _, words = process.communicate(stdin)
        except BaseException:
            process.kill()
            raise
    if process.returncode not in (SAVED, REFUSED):
        raise WorkerFailed(f"process {process.pid} ended with {process.returncode}: {words}")
    return Ended(pid=process.pid, code=process.returncode, words=words.strip())
