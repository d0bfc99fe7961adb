"""One process of the demo: takes the thread as far as it goes, saves it, and ends.

    python -m gateway.demo.worker run FOLDER TEXT
    python -m gateway.demo.worker resume FOLDER        (the answer comes as JSON on stdin)

Exit codes: 0 saved; 1 failed; 2 the answer was refused, and nothing has changed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from agent_core import Failed, Outcome, Refused
from gateway.demo.desk import desk
from gateway.demo.folder import CHECKPOINT

SAVED, FAILED, REFUSED = 0, 1, 2


def main(arguments: Sequence[str], answer: TextIO) -> int:
    """Run or resume the thread in a folder."""
    match arguments:
        case ["run", folder, text]:
            os.chdir(folder)
            return _save(asyncio.run(desk.run(text, requester="customer")))
        case ["resume", folder]:
            os.chdir(folder)
            return _resume(**json.load(answer))
        case _:
            return _complain("run FOLDER TEXT, or resume FOLDER", REFUSED)


def _resume(value: object, comment: str) -> int:
    saved = CHECKPOINT.read_text()
    try:
        return _save(asyncio.run(desk.resume(saved, value, by="you", comment=comment)))
    except Refused as exc:
        return _complain(str(exc), REFUSED)


def _save(outcome: Outcome) -> int:
    CHECKPOINT.write_text(outcome.checkpoint)
    return _complain(outcome.error, FAILED) if isinstance(outcome, Failed) else SAVED


def _complain(words: str, code: int) -> int:
    sys.stderr.write(f"{words}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin))
