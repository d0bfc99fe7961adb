"""`parley people`: who is listed, and whether they can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.gateway.cli.conftest import Parley

AGENTS = """
from agent_core import Agent, ScriptedModel, tool

@tool(approval=True, approvers=["boss"])
def pay() -> str:
    "Pay."
    return ""

payer = Agent("payer", tools=[pay], model=ScriptedModel([]))
"""
TOML = """
[asking]
timezone = "Europe/Berlin"

[[people]]
name = "otto"
slack = "T1:U2"
email = "otto@example.com"
roles = ["lead", "operator"]
prefer = "email"
hours = "Mon-Fri 09:00-18:00"

[[people]]
name = "lisa"
email = "lisa@example.com"

[[people]]
name = "max"
"""


@pytest.fixture(autouse=True)
def installation(parley: Parley, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """List three people; Slack is on, mail is not."""
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "parley.toml").write_text(TOML)
    monkeypatch.setenv("PARLEY_AGENTS", "./agents.py")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "hush")
    monkeypatch.delenv("SMTP_URL", raising=False)
    return tmp_path


def test_people_are_listed_with_the_ways_to_them(parley: Parley) -> None:
    """In the order that they prefer, with what is said of everybody."""
    ran = parley("people", "list", "--json")

    assert ran.data["items"][0] == {
        "name": "otto",
        "roles": ["lead", "operator"],
        "ways": ["email:otto@example.com", "slack:T1:U2"],
        "ask": "first",
        "hours": "Mon-Fri 09:00-18:00",
        "timezone": "Europe/Berlin",
    }
    assert [one["name"] for one in ran.data["items"]] == ["otto", "lisa", "max"]
    assert "email:lisa@example.com" in parley("people", "list").out


def test_check_tells_who_can_not_be_reached_and_names_that_lead_nowhere(parley: Parley) -> None:
    """All of it at once, and exit 1."""
    ran = parley("people", "check", "--json")

    assert ran.code == 1
    assert ran.data["problems"] == [
        "agent payer: approvers of the tool pay names 'boss', and nobody is called so",
        "lisa is reached by email only, which is not turned on",
        "max has no slack and no email, so nobody can ask them",
    ]
    assert ran.data["notes"] == []
    assert "lisa is reached by email only" in parley("people", "check").out


def test_check_is_content_when_all_is_well(parley: Parley, installation: Path) -> None:
    """With a word on what could be better."""
    (installation / "parley.toml").write_text('[[people]]\nname = "boss"\nslack = "T1:U2"')

    ran = parley("people", "check", "--json")

    assert (ran.code, ran.data["problems"]) == (0, [])
    assert "nobody has the role operator" in ran.data["notes"][0]


def test_check_tells_of_a_quorum_that_can_not_be_reached(
    parley: Parley, installation: Path
) -> None:
    """The server would not start with it, either."""
    two = AGENTS.replace('approvers=["boss"]', 'approvers=["boss"], quorum=2')
    (installation / "agents.py").write_text(two)
    (installation / "parley.toml").write_text('[[people]]\nname = "boss"\nslack = "T1:U2"')

    ran = parley("people", "check", "--json")

    assert ran.code == 1
    assert ran.data["problems"] == [
        "agent payer: 2 people must approve the tool pay, and its approvers are 1"
    ]


def test_without_people_both_say_so(parley: Parley, installation: Path) -> None:
    """It is no mistake to have none."""
    (installation / "parley.toml").write_text("")

    assert "parley.toml lists people" in parley("people", "list").err
    assert "nobody is listed" in parley("people", "check").out
