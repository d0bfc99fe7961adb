"""`parley init`: a project to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import AsJson


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Where; made if it is not there.")
    ] = Path(),
    *,
    as_json: AsJson = False,
) -> None:
    """Make a small project: an agent, its test, parley.toml and .env. Overwrites nothing."""
    from gateway.cli.doing import beginning  # noqa: PLC0415

    beginning.begin(folder, as_json=as_json)
