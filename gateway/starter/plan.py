"""What a new project is made of, and what to do next with it. Pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

AGENT: Final = "helpdesk"
COPIED: Final = ("agents.py", "test_agents.py", "parley.toml", ".gitignore", "README.md")
SECRETS: Final = ".env"
FILES: Final = (*COPIED, SECRETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """How Parley and its Python are called from the project's folder."""

    parley: str
    python: str


def commands(folder: Path, *, checkout: Path, executable: Path) -> Commands:
    """Name them as the shell there takes them: `../parley` in a checkout, `parley` elsewhere."""
    script = checkout / "parley"
    parley = _called(script, folder) if script.is_file() else "parley"
    return Commands(parley=parley, python=_called(executable, folder))


def _called(program: Path, folder: Path) -> str:
    """Give the shorter of its two names: from the folder, or whole."""
    near = os.path.relpath(program, folder)
    return shlex.quote(min(near if "/" in near else f"./{near}", str(program), key=len))


def next_steps(folder: Path, here: Path, use: Commands) -> list[str]:
    """Give the commands to go on with."""
    inside = [] if folder == here else [f"cd {shlex.quote(os.path.relpath(folder, here))}"]
    return [*inside, f"{use.python} -m unittest", f"{use.parley} doctor", f"{use.parley} serve"]


def environment(*, secret: str, key: str) -> str:
    """Write `.env`."""
    return (
        "# Settings and secrets of this project; every setting: .env.example of Parley.\n"
        "PARLEY_AGENTS=./agents.py\n"
        "PARLEY_CONFIG=parley.toml\n"
        "\n"
        "# Signs links and tokens. Made for you; keep it, and keep it secret.\n"
        f"PARLEY_SECRET_KEY={secret}\n"
        "\n"
        "# The key of the command line, by the name of 'me'; `parley keys` makes others.\n"
        f"PARLEY_API_KEY={key}\n"
        "\n"
        "# A real model, in place of the script.\n"
        "#OPENAI_API_KEY=\n"
    )


def filled(text: str, use: Commands) -> str:
    """Fill in how things are called; only the README names them."""
    names: Mapping[str, str] = {"{parley}": use.parley, "{python}": use.python}
    for name, value in names.items():
        text = text.replace(name, value)
    return text
