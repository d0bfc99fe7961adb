"""The names that users rely on: each can be had, and none makes anybody wait for the others."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agent_core


def test_every_name_can_be_imported() -> None:
    """And is what its own module calls so."""
    for name in agent_core.__all__:
        assert getattr(agent_core, name) is not None
    assert set(agent_core.__all__) <= set(dir(agent_core))


def test_type_checkers_are_told_the_same_names_and_homes() -> None:
    """The imports that they read, and the table that is used, say the same."""
    tree = ast.parse(Path(agent_core.__file__).read_text(encoding="utf-8"))
    told = {
        name.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("agent_core.")
        for name in node.names
    }
    used = {name: f"agent_core.{home}" for name, home in agent_core._HOME_OF.items()}

    assert told == used
    assert sorted(used) == sorted(agent_core.__all__)


def test_a_name_that_is_not_there_is_missed_as_always() -> None:
    """With the words that Python has for it."""
    with pytest.raises(AttributeError, match="module 'agent_core' has no attribute 'Nonsense'"):
        agent_core.Nonsense  # noqa: B018 - the access is what is tested


def test_errors_alone_load_nothing_else() -> None:
    """A command line that only names an error does not wait for the loop."""
    code = (
        "import sys, agent_core.errors; "
        "print(sorted(name for name in sys.modules if name.startswith('agent_core')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "['agent_core', 'agent_core.errors']\n"
