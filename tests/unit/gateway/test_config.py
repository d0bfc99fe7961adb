"""`parley.toml`: what it may say, and how a mistake is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.config import Config, check_agents, load_config
from gateway.settings import SettingsError

WHOLE = """
[[people]]
name = "otto"
slack = "T1:U2"
email = ["Otto@Example.com", "otto@home.example"]
roles = ["approver"]
prefer = ["email", "slack"]

[routes]
slack = "support"

[slack]
require_mention = true
"""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(text: str) -> str:
    """Give what is said of a file."""
    Path("parley.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_config("")
    return str(caught.value)


def test_without_a_file_nobody_is_known_and_nothing_is_routed() -> None:
    """One agent and no people need no file."""
    assert load_config("") == Config()


def test_file_of_the_working_folder_is_read() -> None:
    """People with one or several addresses, routes, and rules."""
    Path("parley.toml").write_text(WHOLE)

    config = load_config("")

    (otto,) = config.people
    assert (otto.slack, otto.email) == (("T1:U2",), ("otto@example.com", "otto@home.example"))
    assert (otto.roles, otto.prefer) == (("approver",), ("email", "slack"))
    assert (config.routes.slack, config.slack.require_mention) == ("support", True)


def test_named_file_must_be_there(empty_folder: Path) -> None:
    """Who names a file means it."""
    with pytest.raises(SettingsError, match=r"PARLEY_CONFIG: .*elsewhere\.toml can't be read"):
        load_config(str(empty_folder / "elsewhere.toml"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("people = [", "not TOML"),
        ('[[people]]\nname = "a"\nslack = "U2"', "people.0.slack: .*TEAM:USER"),
        ('[[people]]\nname = "a"\nemail = "nobody"', "people.0.email: .*otto@example.com"),
        ('[[people]]\nname = "a@b"', "people.0.name: .*no colon and no @"),
        ('[[people]]\nname = "a"\nroles = ["x:y"]', "people.0.roles: .*no colon"),
        ("[[people]]\nroles = []", "people.0.name: .*required"),
        ('[router]\nslack = "x"', "router: there is no such setting"),
        ('[routes]\nfax = "x"', "routes.fax: there is no such setting"),
    ],
)
def test_mistake_is_told_by_its_place(text: str, said: str) -> None:
    """The file, the place in it, and what should stand there."""
    assert re.search(said, told(text))


def test_all_mistakes_are_told_at_once() -> None:
    """Nobody wants to start the server three times to hear of three mistakes."""
    said = told('[[people]]\nname = "a:b"\nslack = "x"\n[routes]\nfax = "x"')

    assert len(said.splitlines()) == 3


def test_route_to_an_unknown_agent_is_refused() -> None:
    """A mention that nobody answers would be worse."""
    Path("parley.toml").write_text(WHOLE)

    with pytest.raises(SettingsError, match=r"routes\.slack names the agent 'support'; .*: desk"):
        check_agents(load_config(""), ["desk"])


def test_route_to_a_known_agent_is_fine() -> None:
    """And so is none."""
    Path("parley.toml").write_text(WHOLE)

    check_agents(load_config(""), ["support"])
    check_agents(Config(), [])
