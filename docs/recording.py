"""Makes docs/demo.svg, a picture of `parley demo --once`, from a real run of it.

Run it after a change of the demo: .venv/bin/python docs/recording.py
"""  # noqa: INP001 - run by its path; docs is no package

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from gateway.playground.stage import stage
from gateway.playground.story import tell

PICTURE = Path(__file__).with_name("demo.svg")
# A picture in a README may load nothing: the reader's own monospaced font has to do.
OFFLINE_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
OFFLINE_FORMAT = OFFLINE_FORMAT.replace("Fira Code,", "ui-monospace, Menlo, Consolas,")
THEME = TerminalTheme(
    background=(24, 26, 31),
    foreground=(216, 219, 226),
    normal=[
        (60, 64, 72),
        (230, 110, 110),
        (140, 205, 130),
        (230, 190, 110),
        (110, 165, 235),
        (195, 140, 225),
        (105, 195, 210),
        (216, 219, 226),
    ],
)


def main() -> None:
    """Tell the story once to a terminal that nobody sees, and keep the picture."""
    console = Console(
        file=io.StringIO(),
        record=True,
        width=80,
        highlight=False,
        force_terminal=True,
        color_system="truecolor",
        _environ={},
    )
    asyncio.run(_tell(console))
    svg = console.export_svg(
        title="./parley demo --once",
        theme=THEME,
        code_format=OFFLINE_FORMAT,
        unique_id="demo",  # the same in each run, so that a new picture differs where it must
    )
    PICTURE.write_text(svg + "\n")


async def _tell(console: Console) -> None:
    async with stage(model={}, pace=0.5) as made:
        await tell(made, console)


if __name__ == "__main__":
    main()
