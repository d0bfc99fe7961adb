"""Writes `docs/state-machine.md` from the tables in `agent_core/thread/transitions.py`.

    python -m docs.state_machine            writes the page
    python -m docs.state_machine --check    exits 1 if the page is not what would be written

The tables are the truth; nothing about them is said here a second time.
"""
# ruff: noqa: INP001 - run as a module from the root of the repository; docs is no package

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias

from agent_core.thread.transitions import CALL, QUESTION, THREAD

PAGE = Path(__file__).with_name("state-machine.md")

_INTRO = """\
# State machines

Three nouns have a life of their own: a thread, a call (a tool that the model chose) and a
question. Each has one table in `agent_core/thread/transitions.py`. A trigger that is not in the
table for the present state can't happen, and raises `ImpossibleEvent`, which names both.

This page is generated from the tables: change those, then run `python -m docs.state_machine`.
What leaves a state as it is stands in the note beside it, not as an arrow.
"""

_THREAD = """\
## Thread

Triggers are the thread's events. The public status adds two words: an `active` thread is
`waiting` when only people can move it (else `running`), and `queued` until a worker has it.
"""

_CALL = """\
## Call

Triggers are what an event means for the call: a `QuestionAsked` may ask for approval (`gate
asked`), be asked by the tool itself (`asked`), or ask what became of a call that a crash cut off
(`doubted`). `settled` is the end: the call has its one result.
"""

_QUESTION = """\
## Question

Triggers are events. The first end wins; a question that is not open takes nothing more, but for
one thing: an approval of what has not begun to run can be taken back, and is then asked anew.
`QuestionAsked` ends one by asking a new copy of it, as a fork does.
"""

Table: TypeAlias = Mapping[Any, str]  # (state, trigger) → state, each table with its own words


def page() -> str:
    """Write the page."""
    parts = [_INTRO]
    for intro, table in ((_THREAD, THREAD), (_CALL, CALL), (_QUESTION, QUESTION)):
        parts += [intro, "\n".join(_diagram(table)), "", "\n".join(_rows(table)), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _diagram(table: Table) -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    first = next(iter(table))[0]
    yield f"    [*] --> {first}"
    for (before, after), triggers in _merged(table).items():
        if before == after:
            yield f"    note left of {before}"
            yield fill(
                f"stays: {', '.join(triggers)}",
                width=60,
                initial_indent=" " * 8,
                subsequent_indent=" " * 8,
            )
            yield "    end note"
        else:
            yield f"    {before} --> {after}: {'<br>'.join(triggers)}"
    for end in _ends(table):
        yield f"    {end} --> [*]"
    yield "```"


def _rows(table: Table) -> Iterator[str]:
    yield "| from | to | by |"
    yield "|---|---|---|"
    for (before, after), triggers in _merged(table).items():
        named = ", ".join(f"`{trigger}`" for trigger in triggers)
        yield f"| {before} | {'*stays*' if before == after else after} | {named} |"


def _merged(table: Table) -> dict[tuple[str, str], list[str]]:
    """Group the triggers that lead from one state to the same other one."""
    merged: dict[tuple[str, str], list[str]] = {}
    for (before, trigger), after in table.items():
        merged.setdefault((before, after), []).append(trigger)
    return merged


def _ends(table: Table) -> list[str]:
    """Find the states that nothing leads out of."""
    left = {before for (before, _), after in table.items() if before != after}
    return [state for state in dict.fromkeys(table.values()) if state not in left]


def main(arguments: list[str]) -> int:
    """Write or check the page, and give the exit code."""
    match arguments:
        case []:
            PAGE.write_text(page(), encoding="utf-8")
            return 0
        case ["--check"]:
            if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
                return 0
            sys.stderr.write(f"{PAGE.name} is out of date: run python -m docs.state_machine\n")
            return 1
        case _:
            sys.stderr.write("usage: python -m docs.state_machine [--check]\n")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
