"""`parley init`: what it prints."""

from __future__ import annotations

import json
from pathlib import Path

from gateway.cli.doing import screen
from gateway.starter.making import make


def begin(folder: Path, *, as_json: bool) -> None:
    """Make a project, and say how to go on."""
    made = make(folder)
    if as_json:
        told = {"folder": str(made.folder), "files": list(made.files), "next": made.next}
        return screen.data(json.dumps(told, ensure_ascii=False))
    screen.say(f"made {', '.join(made.files)} in {made.folder}. Next:")
    screen.say("")
    for command in made.next:
        screen.data(f"  {command}")
    screen.say("")
    return screen.say("Then, in another terminal: the README there goes on.")
