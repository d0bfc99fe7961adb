"""Making a project in a folder: all of it, or nothing where something of it is there already."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import gateway
from agent_core.errors import ParleyError
from gateway.control.keys import key_in
from gateway.starter import plan

_CHECKOUT = Path(gateway.__file__).parents[1]
_DATABASE = "parley.db"


class AlreadyThere(ParleyError):
    """Something would have been overwritten; nothing was written."""


@dataclass(frozen=True, slots=True)
class Made:
    """A new project."""

    folder: Path
    files: tuple[str, ...]
    next: list[str]


def make(folder: Path) -> Made:
    """Make the project, with a secret and a key of its own."""
    _refuse_what_is_there(folder)
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder.resolve()
    use = plan.commands(whole, checkout=_CHECKOUT, executable=Path(sys.executable))
    for name in plan.COPIED:
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(plan.filled(_template(name), use))
    key = asyncio.run(key_in(f"sqlite:///{whole / _DATABASE}", "me"))
    _write_secretly(folder / plan.SECRETS, plan.environment(secret=secrets.token_hex(32), key=key))
    return Made(whole, plan.FILES, plan.next_steps(whole, Path.cwd(), use))


def _refuse_what_is_there(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise AlreadyThere(f"{folder} is a file, not a folder")
    there = [name for name in (*plan.FILES, _DATABASE) if (folder / name).exists()]
    if there:
        raise AlreadyThere(f"{folder} has {', '.join(there)} already; nothing was written")


def _template(name: str) -> str:
    source = files("gateway.starter").joinpath("files", name.removeprefix("."))
    return source.read_text("utf-8")


def _write_secretly(path: Path, text: str) -> None:
    """Write what only the owner may read, from the first moment on."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
