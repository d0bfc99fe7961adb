"""`parley doctor`: what it prints."""

from __future__ import annotations

import json

import typer
from rich.text import Text

from gateway.cli.doing import screen
from gateway.cli.doing.plain import shown
from gateway.doctor import examination as doctor
from gateway.doctor.checks import Check

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def examine(*, as_json: bool) -> None:
    """Look at everything, and tell one line for each."""
    found = []
    console = screen.data_console()
    with screen.progress("looking") as line:
        for check in doctor.examine():
            found.append(check)
            if not as_json:
                line.hide()
                console.print(_line(check))
                line.show("looking")
    if as_json:
        items = [check.__dict__ for check in found]
        screen.data(json.dumps({"items": items}, ensure_ascii=False))
    if any(check.status == "fail" for check in found):
        raise typer.Exit(1)


def _line(check: Check) -> Text:
    todo = f"\n      {shown(check.todo)}" if check.todo else ""
    return Text.assemble(
        (f"{check.status:<4}", _STYLES[check.status]),
        f"  {check.name}: {shown(check.told)}{todo}",
    )
