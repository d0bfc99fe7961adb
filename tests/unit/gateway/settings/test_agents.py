"""Loading agents from the modules that PARLEY_AGENTS names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.settings.agents import AgentsError, load_agents

AGENT = "from agent_core import Agent\n{0} = Agent(name={0!r})\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder of our own; what is imported from it is forgotten again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def refusal(*specs: str) -> str:
    """Give what is told of agents that can't be loaded."""
    with pytest.raises(AgentsError) as caught:
        load_agents(specs)
    return str(caught.value)


def test_agents_are_found_by_module_and_by_file(folder: Path) -> None:
    """`pkg.module` is looked for in the working folder too; a file is named by its path."""
    (folder / "shop").mkdir()
    (folder / "shop" / "sales.py").write_text(AGENT.format("sales"))
    (folder / "support.py").write_text(AGENT.format("support"))

    assert list(load_agents(["shop.sales", "./support.py"])) == ["sales", "support"]


def test_file_may_import_its_neighbours(folder: Path) -> None:
    """A file's own folder is searched, after everything else."""
    (folder / "team").mkdir()
    (folder / "team" / "prompts_of_team.py").write_text("NAME = 'helper'")
    (folder / "team" / "agents.py").write_text(
        "from agent_core import Agent\nfrom prompts_of_team import NAME\nhelper = Agent(NAME)\n"
    )

    assert list(load_agents(["team/agents.py"])) == ["helper"]
    assert sys.path[-1] == str(folder / "team")


def test_one_agent_under_two_names_is_one(folder: Path) -> None:
    """An agent that another module imports is not defined twice."""
    (folder / "one_place.py").write_text(AGENT.format("support") + "alias = support\n")
    (folder / "other_place.py").write_text("from one_place import support\n")

    assert list(load_agents(["one_place", "other_place"])) == ["support"]


def test_two_agents_of_one_name_are_refused_with_both_places(folder: Path) -> None:
    """A message to "support" could reach either."""
    (folder / "first_place.py").write_text(AGENT.format("support"))
    (folder / "second_place.py").write_text(AGENT.format("support"))

    assert refusal("first_place", "second_place") == (
        "PARLEY_AGENTS: second_place defines agent 'support', and so does first_place"
    )


def test_missing_module_is_told_from_one_that_misses_something(folder: Path) -> None:
    """Whoever reads it must know whether to correct the setting or the module."""
    (folder / "needy.py").write_text("import no_such_library\n")

    assert refusal("no_such_module.agents") == (
        "PARLEY_AGENTS: no_such_module.agents is not there: no module of that name was found"
    )
    assert "is not there: " in refusal("./nowhere.py")
    assert refusal("needy") == (
        f"PARLEY_AGENTS: needy can't be loaded: {folder}/needy.py, line 1: import no_such_library\n"
        "  ModuleNotFoundError: No module named 'no_such_library'"
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\ny = undefined\n", "line 2: y = undefined\n  NameError"),
        ("x = (\n", "line 1: SyntaxError"),
        ("import sys\nsys.exit('no')\n", "line 2: sys.exit('no')\n  SystemExit"),
        ("from agent_core import Agent\na = Agent('')\n", "line 2: a = Agent('')\n  agent_core"),
    ],
)
def test_error_inside_a_module_is_told_by_its_own_line(folder: Path, code: str, told: str) -> None:
    """Where in their file, and what; not where in the import machinery."""
    (folder / "broken.py").write_text(code)

    assert f"{folder}/broken.py, {told}" in refusal("./broken.py")


def test_module_without_an_agent_is_refused(folder: Path) -> None:
    """A server that starts with nothing to run helps nobody."""
    (folder / "empty.py").write_text("x = 1\n")

    assert "./empty.py has no agent" in refusal("./empty.py")


@pytest.mark.parametrize("spec", ["shop-agents", ".agents", "a..b"])
def test_what_is_no_name_of_a_module_is_told_so(spec: str) -> None:
    """Relative and misspelt names get an example."""
    assert refusal(spec) == (
        f"PARLEY_AGENTS: {spec} is no module: it should look like shop.agents or ./agents.py"
    )
