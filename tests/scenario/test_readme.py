"""The README keeps its word: its example runs, its lines of code work, its links lead somewhere."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core import Agent, ModelRejected, Outcome, ScriptedModel, call, calls, says, tool
from gateway.playground.desk import refund
from gateway.playground.guide import STEPS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The README's code of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


EXAMPLE, CONTROL = blocks("python")


def test_first_commands_are_demo_and_test() -> None:
    """What it does and the two commands come first: nothing to set up before them."""
    before, _, _ = README.partition("```sh")
    commands = [line.split("#")[0].strip() for line in blocks("sh")[0].splitlines()]

    assert commands == ["./parley demo", "./parley test"]
    assert len(before.splitlines()) <= 6


def test_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    """Copied as it is, each of its two processes prints what stands below it; one refund."""
    (tmp_path / "refunds.py").write_text(EXAMPLE)
    console = next(block for block in blocks("console") if "refunds.py" in block)
    first, second, counted = re.findall(r"^\$ .*\n((?:[^$].*\n)*)", console, flags=re.MULTILINE)
    run = [sys.executable, "refunds.py"]
    shown = [subprocess.check_output(run, cwd=tmp_path, text=True) for _ in range(2)]

    assert shown == [first, second]
    assert len((tmp_path / "refunds.txt").read_text().splitlines()) == int(counted)


def test_third_run_of_the_example_is_refused(tmp_path: Path) -> None:
    """As the README says: AlreadySettled, with who answered; the refund is not repeated."""
    (tmp_path / "refunds.py").write_text(EXAMPLE)
    run = [sys.executable, "refunds.py"]
    ended = [
        subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        for _ in range(3)
    ]

    assert [one.returncode for one in ended] == [0, 0, 1]
    assert re.search(r"AlreadySettled: .*answered by otto at ", ended[2].stderr)
    assert len((tmp_path / "refunds.txt").read_text().splitlines()) == 1


def test_example_and_demo_have_the_same_tool() -> None:
    """Who reads the demo's source meets the function of the README again."""
    assert inspect.getsource(refund.function) in EXAMPLE


@pytest.mark.parametrize("line", CONTROL.splitlines())
async def test_line_of_control_works_as_it_stands(line: str) -> None:
    """Each line is run on a thread in the state that it is for."""
    fails_at_first = ScriptedModel([[ModelRejected("no"), says("Done.")]])
    asks = ScriptedModel([calls(call("act")), says("Done.")])
    model = fails_at_first if "retry" in line else asks
    desk = Agent("desk", "", [tool(approval=True)(act)], model=model)
    outcome = await desk.run("hello")
    if "resume" in line:
        outcome = await desk.pause(outcome.checkpoint)
    names: dict[str, object] = {"desk": desk, "saved": outcome.checkpoint}
    body = f"async def run():\n    return ({line.partition('#')[0].strip()})"
    exec(body, names)  # noqa: S102 - our own README
    result: Outcome = await names["run"]()  # type: ignore[operator]

    assert result.checkpoint != outcome.checkpoint


def act() -> str:
    """Do something that needs approval."""
    return "done"


def test_links_lead_to_files_that_exist() -> None:
    """Every link and picture of the README is a file of this repository."""
    links = re.findall(r"\]\(([^)#]+)", README)
    missing = [link for link in links if not (ROOT / link).exists()]

    assert {"docs/demo.svg", "docs/playground.png"} <= set(links)
    assert missing == []


def test_settings_that_the_readme_names_exist() -> None:
    """A setting in the README stands in `.env.example` too."""
    named = set(re.findall(r"\b(?:OPENAI|PARLEY|SLACK|EMAIL)_[A-Z_]+\b", README))
    known = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert named <= known


def test_picture_loads_nothing_and_shows_today_s_story() -> None:
    """The picture is whole in itself, and was made after the steps last changed."""
    picture = (ROOT / "docs" / "demo.svg").read_text()
    words = re.sub(r"&#160;|&#xa0;", " ", picture)
    missing = [step.title for step in STEPS if step.title not in words]

    assert "url(http" not in picture
    assert missing == []
