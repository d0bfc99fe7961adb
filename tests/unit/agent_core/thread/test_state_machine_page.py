"""The page about the state machines says what the tables say."""

from __future__ import annotations

import re

import pytest

from agent_core.thread.transitions import CALL, QUESTION, THREAD
from docs.state_machine import PAGE, main, page


def test_the_page_is_what_the_tables_give() -> None:
    """After a change of a table: `python -m docs.state_machine`."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_page_has_every_row_of_every_table() -> None:
    """The tables of the page, read back, are the tables of the code."""
    rows = re.findall(r"^\| (\w+) \| (\*?\w+\*?) \| (`.+`) \|$", page(), re.MULTILINE)
    read = [
        ((before, trigger), before if after == "*stays*" else after)
        for before, after, triggers in rows
        for trigger in re.findall(r"`([^`]+)`", triggers)
    ]

    assert sorted(read) == sorted([*THREAD.items(), *CALL.items(), *QUESTION.items()])


def test_the_diagrams_have_every_arrow() -> None:
    """Between two states, one arrow with all its triggers."""
    arrows = re.findall(r"^    (\w+) --> (\w+): (.+)$", page(), re.MULTILINE)
    drawn = {
        (before, trigger, after)
        for before, after, label in arrows
        for trigger in label.split("<br>")
    }
    moves = [*THREAD.items(), *CALL.items(), *QUESTION.items()]

    assert drawn == {(*move, after) for move, after in moves if move[0] != after}
    assert page().count("stateDiagram-v2") == 3


def test_the_check_passes_on_a_fresh_page() -> None:
    """It exits 0."""
    assert main(["--check"]) == 0


def test_an_unknown_argument_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """It exits 2 and says how it is used."""
    assert main(["--chek"]) == 2
    assert "usage" in capsys.readouterr().err
