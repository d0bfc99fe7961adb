"""The terminal around the playground: what is printed, how it is left, and with which exit code."""

from __future__ import annotations

import asyncio
import io
import os
import socket
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from gateway.playground.hosting import PortTaken, hosted, listening_on, until_told
from gateway.playground.server_process import ServerFailed
from gateway.playground.stage import stage
from gateway.playground.story import Stuck, tell
from gateway.settings.environment import ModelSettings, load

_WIDEST = 80
_INTERRUPTED = 130
_QUICK = 0.5
"""The pace of `--once`: nobody has to find a button meanwhile."""


def play(*, once: bool, port: int | None, browser: bool) -> int:
    """Play; 0 told or left, 1 failed, 130 interrupted while it told the story."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without our signs shows "?"
    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST)
    try:
        listening = None if once else listening_on(port)
        asyncio.run(_once(console) if listening is None else _open(console, listening, browser))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (PortTaken, ServerFailed, Stuck) as exc:
        sys.stderr.write(f"parley: {exc}\n")
        return 1
    return 0


async def _once(console: Console) -> None:
    async with stage(model={}, pace=_QUICK) as made:
        await tell(made, console)


async def _open(console: Console, listening: socket.socket, browser: bool) -> None:  # noqa: FBT001
    async with stage(model=_model()) as made, hosted(made, listening) as address:
        model = made.model or "a script: no key, no account, no network"
        console.print(Text.assemble(("Parley playground  ", "bold"), (address, "bold cyan")))
        console.print(Text(f"The model is {model}. Ctrl-C ends it; nothing is left.", "dim"))
        sys.stdout.flush()
        await until_told(lambda: _show(address) if browser else None)
        console.print(Text("\nThe playground has ended; its folder is removed.", "dim"))


def _show(address: str) -> None:
    """Open the page where there is somebody to look at it, and something to look with."""
    has_screen = sys.platform != "linux" or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    if sys.stdout.isatty() and has_screen:
        with suppress(webbrowser.Error):
            webbrowser.open(address)


def _model() -> Mapping[str, str]:
    """Give the settings of a real model, if there is one; its server may need no key."""
    found = load(ModelSettings)
    key = found.api_key.get_secret_value() if found.api_key else ""
    if not key and not found.base_url:
        return {}
    given = {"API_KEY": key, "BASE_URL": found.base_url, "MODEL": found.model}
    return {f"OPENAI_{name}": value for name, value in given.items() if value}
