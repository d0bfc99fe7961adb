"""The ground that everything stands on: `./parley`, the pins, the settings, the command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent_core", "channels", "gateway", "storage")
NOT_OURS = re.compile(
    r"(^|/)(\.git|\.venv[^/]*|\.hypothesis|\.\w+_cache|__pycache__|build|dist)(/|$)"
)

REGISTRIES = re.compile(
    r"pypi\.(org|python)|pythonhosted\.org|npmjs\.(org|com)|deb\.debian\.org"
    r"|[/]simple[/]|--(extra-)?index[-]url"
)


def run(*command: str | Path, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with what it said."""
    return subprocess.run(
        command, cwd=cwd, env=os.environ | env, capture_output=True, text=True, check=False
    )


def pins() -> dict[str, str]:
    """What constraints.txt pins, by canonical name."""
    text = (ROOT / "constraints.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in (p.split("==") for p in lines)}


def declared() -> list[Requirement]:
    """What pyproject.toml asks for: to build, to run and to develop."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = project["build-system"]["requires"] + project["project"]["dependencies"]
    for extra in project["project"]["optional-dependencies"].values():
        names += extra
    return [Requirement(name) for name in names]


def needed_here(requirement: Requirement, seen: set[str]) -> None:
    """Follow what an installed distribution needs on this machine, and collect the names."""
    name = canonicalize_name(requirement.name)
    if name in seen:
        return
    seen.add(name)
    extras = ("", *sorted(requirement.extras))
    try:
        children = [Requirement(line) for line in requires(name) or ()]
    except PackageNotFoundError:  # a tool that only the isolated build sees
        return
    for child in children:
        if child.marker is None or any(child.marker.evaluate({"extra": e}) for e in extras):
            needed_here(child, seen)


def our_files() -> list[Path]:
    """Every file that is ours to publish: tracked, or new and not ignored."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        found = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        found = list(ROOT.rglob("*"))
    return [p for p in found if p.is_file() and not NOT_OURS.search(str(p.relative_to(ROOT)))]


@pytest.fixture
def fresh_checkout(tmp_path: Path) -> Path:
    """A checkout in which nothing was installed yet, in a folder with a space in its name."""
    root = tmp_path / "fresh checkout"
    root.mkdir()
    for name in ("parley", "pyproject.toml", "constraints.txt", "LICENSE"):
        shutil.copy2(ROOT / name, root / name)
    return root


def test_parley_is_a_program_for_any_posix_shell() -> None:
    """`./parley` is executable, starts with `#!/bin/sh`, and that shell can parse it."""
    script = ROOT / "parley"

    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/bin/sh\n")
    assert run("sh", "-n", script).returncode == 0


def test_parley_runs_from_any_folder_through_a_link(tmp_path: Path) -> None:
    """It finds its own checkout through a link, and code in the caller's folder is not imported."""
    (tmp_path / "gateway").mkdir()
    (tmp_path / "gateway" / "__main__.py").write_text("raise SystemExit('not ours')")
    (tmp_path / "typing.py").write_text("raise SystemExit('not ours')")
    (tmp_path / "a link").symlink_to(ROOT / "parley")

    result = run("./a link", "--version", cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"parley \d+\.\d+\.\d+\n", result.stdout)


def test_python_that_does_not_fit_is_named(fresh_checkout: Path) -> None:
    """A wrong interpreter is refused in words, before anything is made."""
    result = run("./parley", "--version", cwd=fresh_checkout, PARLEY_PYTHON="/bin/false")

    assert result.returncode == 1
    assert result.stderr == (
        "parley: PARLEY_PYTHON=/bin/false is not a Python >= 3.11 with the modules venv and pip\n"
    )
    assert not (fresh_checkout / ".venv").exists()


def test_offline_machine_is_told_so(fresh_checkout: Path) -> None:
    """When no package index answers, the last line says so in plain words, and how to go on."""
    nobody_listens = "http://127.0.0.1:9"
    result = run(
        "./parley",
        "--version",
        cwd=fresh_checkout,
        PIP_CONFIG_FILE=os.devnull,
        PIP_FIND_LINKS="",
        PIP_INDEX_URL=nobody_listens,
        PIP_NO_CACHE_DIR="1",
        PIP_RETRIES="0",
    )

    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        "parley: the package index did not answer. Are you offline? "
        "Nothing is lost: run the same command again."
    )


def test_constraints_pin_whatever_is_needed() -> None:
    """Each dependency, and each dependency's dependency, has exactly one version."""
    needed: set[str] = set()
    for requirement in declared():
        needed_here(requirement, needed)

    assert needed - pins().keys() == set()


def test_pins_are_versions_that_pyproject_allows() -> None:
    """A pin outside the range that we publish would test what nobody else gets."""
    outside = [
        str(requirement)
        for requirement in declared()
        if pins()[canonicalize_name(requirement.name)] not in requirement.specifier
    ]

    assert outside == []


def test_no_file_holds_the_address_of_a_registry() -> None:
    """Where packages come from is the machine's business: mirrors and proxies must work."""
    files = our_files()
    held = {
        str(path.relative_to(ROOT)): match.group()
        for path in files
        if (match := REGISTRIES.search(path.read_bytes().decode(errors="replace")))
    }

    assert ROOT / "parley" in files
    assert held == {}
    assert "://" not in (ROOT / "constraints.txt").read_text()


def test_example_settings_hold_no_values() -> None:
    """`.env.example` copied as it is changes nothing, and can leak nothing."""
    example = (ROOT / ".env.example").read_text().splitlines()
    settings = [line for line in example if line and not line.startswith("#")]

    assert [line for line in settings if not line.endswith("=")] == []


def test_wrong_usage_is_told_on_stderr_with_exit_code_2() -> None:
    """Data goes to stdout, talk to stderr; 2 means that the command was wrong."""
    result = run(sys.executable, "-m", "gateway", "no-such-command")

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: parley")
    assert "no-such-command" in result.stderr


def test_command_line_loads_no_library_that_it_may_not_need() -> None:
    """`parley --version` doesn't wait for a model's SDK or for a terminal's decorations."""
    heavy = ("aiohttp", "asyncio", "openai", "pydantic", "rich")
    code = f"import sys, gateway.cli; print([m for m in {heavy} if m in sys.modules])"

    result = run(sys.executable, "-c", code, COVERAGE_PROCESS_CONFIG="", COVERAGE_PROCESS_START="")

    assert result.stdout == "[]\n"
