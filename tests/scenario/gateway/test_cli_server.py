"""The server from the command line: settings, start and end, keys, the kill switch, its log."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario.gateway.cli_installation import (
    QUICK_ENOUGH,
    Installation,
    installation,
    waiting_for,
)

CANARY = "canary-7f3a9c"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Installation]:
    """An installation whose server runs."""
    with installation(tmp_path) as made:
        yield made


def test_halt_holds_everything_until_it_is_lifted(site: Installation) -> None:
    """What is launched meanwhile is kept, and runs afterwards."""
    assert site.data("halt", "on", "--reason", "fire")["halted"] is True
    thread = site.data("launch", "echo", "hello")["id"]
    assert site.data("threads", "show", thread)["status"] != "finished"
    assert site.data("halt", "off")["halted"] is False
    waiting_for(site, thread, "finished")


def test_keys_can_be_made_and_revoked_beside_a_running_server(site: Installation) -> None:
    """At once for the new one; for a revoked one within a moment. Scopes are kept."""
    admin = site.key
    reader = site.data("keys", "create", "reader", "--scope", "read")
    site.key = reader["key"]
    assert site.run("threads", "list").returncode == 0
    forbidden = site.run("launch", "echo", "hello")
    assert (forbidden.returncode, forbidden.stdout) == (1, "")
    site.data("keys", "revoke", reader["id"])
    deadline = time.monotonic() + QUICK_ENOUGH
    while (refused := site.run("threads", "list")).returncode == 0:
        assert time.monotonic() < deadline
    assert refused.returncode == 1
    assert "PARLEY_API_KEY" in refused.stderr
    site.key = ""
    assert "parley keys create" in site.run("threads", "list").stderr
    site.key = admin


def test_what_people_write_and_secrets_are_in_no_log_line(site: Installation) -> None:
    """A canary in every input of the command line; the log has ids, and only JSON."""
    thread = site.data(
        "launch", "desk", f"say {CANARY}", "--key", CANARY, "--metadata", f"a={CANARY}"
    )["id"]
    question = waiting_for(site, thread, "waiting")["questions"][0]["id"]
    site.data("threads", "pause", thread, "--reason", CANARY)
    site.data("threads", "resume", thread, "--instruction", CANARY)
    site.data("questions", "answer", question, "--deny", "--comment", CANARY)
    site.run("questions", "answer", question, "--text", CANARY)
    site.run("launch", CANARY, CANARY)
    site.run("threads", "list", "--status", CANARY, "--cursor", CANARY)
    site.run("threads", "import", "-", stdin=json.dumps({"parley": 1, "events": [CANARY]}))
    site.data("halt", "on", "--reason", CANARY)
    site.data("halt", "off")
    admin, site.key = site.key, f"pk_{CANARY}"
    site.run("threads", "list")
    site.key = admin
    site.stop()

    lines = [json.loads(line) for line in site.log.splitlines()]
    assert any(line.get("route") == "/v1/threads/{thread}/pause" for line in lines)
    assert CANARY not in site.log
    assert site.key not in site.log


def test_server_ends_well_on_sigterm_and_the_next_finds_everything(site: Installation) -> None:
    """Exit code 0, and nothing lost."""
    thread = site.data("launch", "desk", "Please refund order 1042")["id"]
    waiting_for(site, thread, "waiting")

    assert site.stop() == 0
    gone = site.run("threads", "list")
    site.start()

    assert gone.returncode == 1
    assert "start one with `parley serve`" in gone.stderr
    assert site.data("threads", "show", thread)["status"] == "waiting"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PARLEY_PORT", "x", "PARLEY_PORT can't be used"),
        ("PARLEY_AGENTS", "./nowhere.py", "PARLEY_AGENTS: ./nowhere.py is not there"),
        ("PARLEY_DATABASE_URL", "postgresql://db/parley", "PARLEY_SECRET_KEY is not set"),
        ("OPENAI_BASE_URL", "nonsense", "OPENAI_BASE_URL is not an address"),
    ],
)
def test_server_with_wrong_settings_does_not_start(
    tmp_path: Path, name: str, value: str, told: str
) -> None:
    """Exit code 2, a message with the variable's name, and nothing was made."""
    site = Installation(tmp_path, 0)
    ran = subprocess.run(
        [sys.executable, "-m", "gateway", "serve"],
        cwd=tmp_path,
        env=site.environment() | {"PARLEY_AGENTS": "", name: value},
        capture_output=True,
        text=True,
        timeout=QUICK_ENOUGH,
        check=False,
    )

    assert (ran.returncode, ran.stdout) == (2, "")
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_second_server_on_one_file_is_told_why_it_can_not_start(site: Installation) -> None:
    """One server is the limit on SQLite; the first goes on."""
    second = site.run("serve")

    assert second.returncode == 1
    assert "one server is the limit on SQLite" in second.stderr
    assert site.run("threads", "list").returncode == 0
