"""Who decides: the person at the keyboard, or `--once` in their place."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import assert_never

from rich.console import Console
from rich.text import Text

from gateway.demo.replies import (
    HELP,
    Approve,
    Deny,
    Edit,
    Quit,
    Show,
    Unclear,
    parse_amount,
    parse_reply,
    printable,
)

_PROMPT = "> "


class Person:
    """Types answers. Where nobody can, the first answer is given for them, and said so."""

    def __init__(self, console: Console, *, once: bool) -> None:
        self._console = console
        self._once = once
        self._has_typed = False

    def decide(self, checkpoint: Path) -> Approve | Deny | Edit | Quit:
        """Ask until the reply is a decision."""
        self._console.print(Text(HELP, style="bold"))
        while True:
            match parse_reply(self._first_line()):
                case Show():
                    self._console.print(Text(_readable(checkpoint.read_text()), style="dim"))
                case Unclear(advice):
                    self._console.print(Text(advice, style="yellow"))
                case Deny(reason):
                    return Deny(reason or self._reason())
                case Edit(amount):
                    return Edit(amount) if amount is not None else self._amount()
                case Approve() | Quit() as decided:
                    return decided
                case never:
                    assert_never(never)

    def _first_line(self) -> str:
        if self._once:
            return self._typed_for_them("typed by --once")
        try:
            return self._line(_PROMPT)
        except EOFError:
            if self._has_typed or _at_keyboard():
                raise
        note = "parley: nobody is at the keyboard, so the demo answers itself, as with --once\n"
        sys.stderr.write(note)
        return self._typed_for_them("nobody at the keyboard")

    def _reason(self) -> str:
        try:
            return printable(self._line("Why? (Enter for no reason) ")).strip()
        except EOFError:
            if _at_keyboard():
                raise
            return ""

    def _amount(self) -> Edit:
        while True:
            match parse_amount(self._line("What amount? ")):
                case Edit() as edit:
                    return edit
                case Unclear(advice):
                    self._console.print(Text(advice, style="yellow"))

    def _line(self, prompt: str) -> str:
        if sys.stdin is None:  # closed by whoever started us
            raise EOFError
        line = self._console.input(Text(prompt, style="bold"))
        self._has_typed = True
        if not _at_keyboard():  # then no terminal has echoed it
            self._console.print(Text(printable(line)))
        return line

    def _typed_for_them(self, why: str) -> str:
        word = "approve"
        self._console.print(Text.assemble((_PROMPT + word, "bold"), (f"   ({why})", "dim")))
        return word


def _at_keyboard() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _readable(checkpoint: str) -> str:
    """Put each event on a line of its own."""
    saved = json.loads(checkpoint)
    events = ",\n".join(f"  {json.dumps(event, ensure_ascii=False)}" for event in saved["events"])
    return f'{{"parley": {saved["parley"]}, "events": [\n{events}\n]}}'
