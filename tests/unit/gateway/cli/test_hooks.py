"""`parley hooks`: what is declared, and what a payload would do, without doing it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.unit.channels.webhook.samples import FOLDER
from tests.unit.channels.webhook.sender import code
from tests.unit.gateway.cli.conftest import Parley

AGENTS = """
from agent_core import Agent, ScriptedModel
release = Agent("release", model=ScriptedModel([]))
"""
TOML = """
[hooks.ci]
preset = "github-ci"
secret_env = "CI_SECRET"
audience = ["otto"]
on_repeat = "supersede"

[hooks.any]
scheme = "bearer"
secret_env = "CI_SECRET"
message = "{{ payload.text }}"
"""
RUN = str(FOLDER / "github-ci.workflow_run.json")
EVENT = ("--header", "X-GitHub-Event: workflow_run")

EVENTS_TOML = """
[hooks.cd]
scheme = "bearer"
secret_env = "CI_SECRET"
event_key = "{% if payload.id is defined %}deploy/{{ payload.id }}{% endif %}"
event_value = "{'state': payload.state}"
"""


@pytest.fixture(autouse=True)
def installation(parley: Parley, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Declare two hooks."""
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "parley.toml").write_text(TOML)
    monkeypatch.setenv("PARLEY_AGENTS", "./agents.py")
    monkeypatch.setenv("PARLEY_PUBLIC_URL", "https://parley.example.com")
    monkeypatch.setenv("CI_SECRET", "hunter2")


def test_hooks_are_listed_with_their_addresses(parley: Parley) -> None:
    """And never with a secret."""
    ran = parley("hooks", "list", "--json")

    assert ran.data["items"] == [
        {
            "name": "ci",
            "url": "https://parley.example.com/hooks/ci",
            "scheme": "github",
            "agent": "release",
            "on_repeat": "supersede",
        },
        {
            "name": "any",
            "url": "https://parley.example.com/hooks/any",
            "scheme": "bearer",
            "agent": "release",
            "on_repeat": "resume",
        },
    ]
    shown = parley("hooks", "list").out
    assert "https://parley.example.com/hooks/ci" in shown
    assert "hunter2" not in ran.out + shown


def test_payload_is_shown_as_what_it_would_do(parley: Parley, tmp_path: Path) -> None:
    """Without a signature: what it would do if it had one. Nothing is written."""
    ran = parley("hooks", "try", "ci", RUN, *EVENT, "--json")

    told = ran.data
    assert (ran.code, told["verified"], told["effect"]) == (0, None, "say")
    assert told["place"] == "webhook:ci:acme/shop/runs/9876543210"
    assert (told["agent"], told["requester"]) == ("release", "webhook:ci")
    assert (told["audience"], told["on_repeat"]) == (["otto"], "supersede")
    assert told["message"].startswith('The workflow "CI" of acme/shop ended with failure.')
    assert not (tmp_path / "parley.db").exists()


def test_message_alone_is_data_and_the_rest_is_talk(parley: Parley) -> None:
    """`parley hooks try … | less` shows what the agent would read."""
    ran = parley("hooks", "try", "ci", RUN, *EVENT)

    assert ran.out.startswith('The workflow "CI"')
    assert "verified: not signed" in ran.err
    assert "place: webhook:ci:acme/shop/runs/9876543210" in ran.err
    assert "audience: otto" in ran.err


def test_signature_is_checked_where_there_is_one(parley: Parley) -> None:
    """A wrong one is refused, as it would be."""
    signature = f"sha256={code(Path(RUN).read_bytes(), b'hunter2')}"
    good = ("--header", f"X-Hub-Signature-256: {signature}", "--header", "X-GitHub-Delivery: d-1")
    bad = ("--header", f"X-Hub-Signature-256: {signature[:-1]}0")

    yes = parley("hooks", "try", "ci", RUN, *EVENT, *good, "--json")
    no = parley("hooks", "try", "ci", RUN, *EVENT, *bad, "--json")

    assert (yes.code, yes.data["verified"], yes.data["delivery"]) == (0, True, "d-1")
    assert (no.code, no.data["verified"], no.data["effect"]) == (1, False, "refuse")
    assert no.data["why"] == "the signature does not fit"


def test_ignored_payload_says_why(parley: Parley) -> None:
    """That is no failure."""
    success = str(FOLDER / "github-ci.success.json")

    ran = parley("hooks", "try", "ci", success, *EVENT)

    assert (ran.code, ran.out) == (0, "")
    assert "It would be ignored: `when` does not hold." in ran.err


def test_payload_comes_from_stdin_and_what_is_refused_ends_with_1(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a pipeline notices."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))

    ran = parley("hooks", "try", "any", "-")

    assert ran.code == 1
    assert "It would be refused: message: 'dict object' has no attribute 'text'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code_", "told"),
    [
        (("nope", RUN), 1, "there is no hook 'nope'; the hooks are: ci, any"),
        (("ci", "gone.json"), 1, "gone.json can't be read: No such file"),
        (("ci", RUN, "--header", "X"), 2, "should look like 'Name: value'"),
    ],
)
def test_wrong_use_is_told(
    parley: Parley, arguments: tuple[str, ...], code_: int, told: str
) -> None:
    """What there is, is named."""
    ran = parley("hooks", "try", *arguments)

    assert ran.code == code_
    assert told in ran.err


def test_missing_secret_is_told_by_its_variable(
    parley: Parley, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2, as the server would."""
    monkeypatch.delenv("CI_SECRET")

    ran = parley("hooks", "list")

    assert ran.code == 2
    assert "hooks.ci.secret_env: the environment variable CI_SECRET is not set" in ran.err


def test_secret_may_stand_in_the_env_file(
    parley: Parley, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server finds it, too."""
    monkeypatch.setenv("CI_SECRET", "")
    (tmp_path / ".env").write_text("CI_SECRET=x\n")

    assert parley("hooks", "list").code == 0


def test_without_hooks_the_list_says_how_to_declare_one(parley: Parley, tmp_path: Path) -> None:
    """As talk: there is no data."""
    (tmp_path / "parley.toml").write_text("")

    ran = parley("hooks", "list")

    assert (ran.code, ran.out) == (0, "")
    assert "[hooks.NAME]" in ran.err


def test_event_is_shown_with_its_key_and_value(parley: Parley, tmp_path: Path) -> None:
    """No agent is needed: none is told anything, though there are two."""
    (tmp_path / "agents.py").write_text(AGENTS + 'other = Agent("other", model=ScriptedModel([]))')
    (tmp_path / "parley.toml").write_text(EVENTS_TOML)
    (tmp_path / "p.json").write_text('{"id": 7, "state": "success", "more": 1}')
    (tmp_path / "q.json").write_text('{"state": "success"}')
    ran = parley("hooks", "try", "cd", "p.json", "--json")
    told = parley("hooks", "try", "cd", "p.json")
    ignored = parley("hooks", "try", "cd", "q.json")

    assert ran.data["effect"] == "report"
    assert (ran.data["event_key"], ran.data["event_value"]) == ("deploy/7", {"state": "success"})
    assert (told.code, told.out) == (0, '{"state": "success"}\n')
    assert "event_key: deploy/7" in told.err
    assert (ignored.code, "It would be ignored" in ignored.err) == (0, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('event_value = "payload"', "event_value: it goes with event_key"),
        ('event_key = "{{ payload.id"', "event_key: "),
        ('event_key = "x"\nevent_value = "payload ** 2"', "event_value: "),
    ],
)
def test_event_that_cannot_work_is_told_at_the_start(
    parley: Parley, tmp_path: Path, line: str, words: str
) -> None:
    """By its place in the file."""
    base = '[hooks.cd]\nscheme = "bearer"\nsecret_env = "CI_SECRET"\nmessage = "m"\n'
    (tmp_path / "parley.toml").write_text(base + line)
    ran = parley("hooks", "list")

    assert (ran.code, f"hooks.cd.{words}" in ran.err) == (2, True), ran.err
