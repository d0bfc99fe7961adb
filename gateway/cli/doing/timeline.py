"""A thread as people read it in a terminal: its head, its events line by line, what it waits for.

The look of `parley demo`. Each event is laid out by itself, so that a live one looks like an old
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from gateway.cli.doing.plain import one_line, shown
from gateway.cli.doing.words import delivered, how_to_answer
from gateway.control.event_words import Calls, Event, learn, value_words, words

_INDENT = " " * 15
_NARROW = 64
"""Under this width the types of events give their room to the words."""
_MOST = 2000
_STYLES = {"waiting": "yellow", "paused": "yellow", "failed": "red", "finished": "green"}


class Timeline:
    """Prints events one by one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._calls: Calls = {}
        self._day = ""

    def print(self, event: Event) -> None:
        """Print the next event."""
        learn(event, self._calls)
        at = datetime.fromisoformat(event["at"])
        if f"{at:%Y-%m-%d}" != self._day:
            self._day = f"{at:%Y-%m-%d}"
            self._console.print(_day(self._day, self._console))
        self._console.print(self._row(event, at))

    def tell(self, delivery: Mapping[str, Any]) -> None:
        """Print under an event who heard of it where."""
        words = f"→ {delivery['address']} ({delivered(delivery)})"
        self._console.print(Text(f"{_INDENT}{one_line(words)}", style="dim"), overflow="fold")

    def _row(self, event: Event, at: datetime) -> RenderableType:
        told = _cut(words(event, self._calls))
        cells = [str(event["seq"]), f"{at:%H:%M:%S}", event["type"], told]
        if not self._console.is_terminal:
            return Text("  ".join([*cells[:3], one_line(told)]))
        return _laid(cells, narrow=self._console.width < _NARROW)


def _laid(cells: list[str], *, narrow: bool) -> Table:
    seq, at, kind, told = cells
    row = Table.grid(padding=(0, 2, 0, 0), expand=True)
    row.add_column(justify="right", style="dim", min_width=3, no_wrap=True)
    row.add_column(style="dim", min_width=8, no_wrap=True)
    if narrow:
        row.add_column(ratio=1, overflow="fold")
        row.add_row(seq, at, Text.assemble((kind, "cyan"), f" {told}"))
    else:
        row.add_column(style="cyan", width=17, no_wrap=True)
        row.add_column(ratio=1, overflow="fold")
        row.add_row(seq, at, Text(kind), Text(told))
    return row


def _day(day: str, console: Console) -> RenderableType:
    title = Text(f"{day} UTC", style="dim")
    return Rule(title, align="left", style="dim") if console.is_terminal else title


def head(thread: Mapping[str, Any]) -> RenderableType:
    """Tell what a thread is, and how it stands."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column(overflow="fold")
    for name, told in _facts(thread):
        lines.add_row(name, told)
    return lines


def _facts(thread: Mapping[str, Any]) -> list[tuple[str, Text]]:
    usage = thread.get("usage") or {}
    tokens = f"{usage.get('input_tokens', 0):,} in, {usage.get('output_tokens', 0):,} out"
    facts = [
        ("thread", Text(shown(thread["id"]), style="bold")),
        ("agent", Text(one_line(thread["agent"]))),
        ("status", status(thread["status"])),
        ("for", Text(one_line(thread.get("requester") or "nobody in particular"))),
        ("tokens", Text(tokens)),
    ]
    if thread.get("metadata"):
        facts.append(("metadata", Text(one_line(value_words(thread["metadata"])))))
    return facts


def foot(thread: Mapping[str, Any]) -> RenderableType:
    """Tell what came out of a thread, or what it waits for."""
    parts: list[RenderableType] = [card(question) for question in thread.get("questions", ())]
    if thread.get("error"):
        parts.append(Text(f"error: {shown(thread['error'])}", style="red"))
    if thread.get("result") is not None and thread["status"] == "finished":
        parts.append(Text(shown(thread["result"]), style="green"))
    return Group(*parts)


def card(question: Mapping[str, Any]) -> RenderableType:
    """Show what is asked, with the arguments one to a line, and how to answer."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_row(Text(shown(question["prompt"]), style="bold"))
    if question.get("context"):
        lines.add_row(Text(shown(question["context"])))
    for name, value in (question.get("arguments") or {}).items():
        lines.add_row(Text(f"  {one_line(name)}: {one_line(value_words(value))}"))
    for option in question.get("options") or ():
        lines.add_row(
            Text(f"  {one_line(option['name'])} {one_line(option.get('description', ''))}")
        )
    lines.add_row(Text(how_to_answer(question), style="dim"))
    title = Text(f"question {shown(question['id'])}")
    return Panel(lines, title=title, title_align="left", style="yellow", expand=False)


def status(name: str) -> Text:
    """Write a status in its colour."""
    return Text(name, style=_STYLES.get(name, "bold"))


def _cut(text: str) -> str:
    whole = shown(text)
    return whole if len(whole) <= _MOST else f"{whole[:_MOST]}… ({len(whole) - _MOST} more)"
