"""`parley.toml`: what it may say, and how a mistake is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.settings.config import Config, check_agents, load_config
from gateway.settings.environment import SettingsError

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


TWO = '[[people]]\nname = "a"\n{0}\n[[people]]\nname = "b"\n{0}'


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


def test_what_is_said_of_everybody_holds_for_who_says_nothing_else() -> None:
    """Hours, time zone and whether all ways are used at once."""
    Path("parley.toml").write_text(
        '[asking]\nask = "all"\ntimezone = "Asia/Tokyo"\n'
        '[[people]]\nname = "a"\nask = "first"\n[[people]]\nname = "b"'
    )

    a, b = load_config("").people

    assert (a.ask, a.timezone, b.ask, b.timezone) == ("first", "Asia/Tokyo", "all", "Asia/Tokyo")


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
        ('[[people]]\nname = "a"\nprefer = "fax"', "people.0.prefer.0: .*'slack' or 'email'"),
        ('[[people]]\nname = "a"\nhours = "9 to 5"', "people.0: .*Mon-Fri 09:00-18:00"),
        ('[[people]]\nname = "a"\ntimezone = "Mars"', "people.0: .*no time zone 'Mars'"),
        ('[asking]\nhours = "9 to 5"\n[[people]]\nname = "a"', "people.0: .*Mon-Fri"),
        ('[asking]\nname = "a"', "asking.name: there is no such setting"),
        ('[[people]]\nname = "a"\n[[people]]\nname = "A"', "A is both a's and A's"),
        (TWO.format('slack = "T1:U1"'), "slack T1:U1 is both a's and b's"),
        (TWO.format('email = "x@y.org"'), "x@y.org is both a's and b's"),
        (TWO.format('roles = "a"'), "a is a role of b's, and a name"),
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


def test_email_has_rules_of_its_own() -> None:
    """Who may begin threads by mail, and how much a thread may mail."""
    Path("parley.toml").write_text(
        '[email]\nsenders = ["Ann@Example.com", "@acme.example", "people"]\nmails_per_hour = 5\n'
    )

    rules = load_config("").email

    assert rules.senders == ("ann@example.com", "@acme.example", "people")
    assert rules.mails_per_hour == 5
    assert Config().email.mails_per_hour == 20


@pytest.mark.parametrize("sender", ["", "@", "ann", "ann@", "Ann <ann@example.com>", "roles"])
def test_sender_that_names_nobody_is_told(sender: str) -> None:
    """By its place in the file."""
    words = told(f'[email]\nsenders = ["{sender}"]\n')

    assert "email.senders" in words
    assert "@example.com" in words
