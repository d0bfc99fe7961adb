"""The terminal around the story: how wide, how it is left, and with which exit code."""

from __future__ import annotations

import io
import sys

from rich.console import Console
from rich.text import Text

from gateway.demo.process import WorkerFailed
from gateway.demo.story import tell

_WIDEST = 80


def play(*, once: bool) -> int:
    """Tell the story; 0 told or left, 1 failed or no answer came, 130 interrupted."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without our signs shows "?"
    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST)
    try:
        tell(console, once=once)
    except KeyboardInterrupt:
        return _leave(console, "Interrupted", 130)
    except EOFError:
        return _leave(console, "No answer came", 1)
    except WorkerFailed as exc:
        sys.stderr.write(f"parley: {exc}\n")
        return 1
    return 0


def _leave(console: Console, why: str, code: int) -> int:
    console.print()
    console.print(Text(f"{why}. The demo's folder is removed."))
    return code
