"""`parley doctor`: what each check finds, and what it says to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from channels.callback.addresses import parse_target
from channels.callback.endpoints import Endpoints
from channels.slack.manifest import BOT_EVENTS
from gateway.cli import main
from gateway.control.keys import secret_file
from gateway.control.memory import SealedMemory
from gateway.doctor.checks import Check
from gateway.doctor.examination import examine
from storage.sqlite import SqliteStore
from tests.unit.gateway.canned import Canned

AGENT = "from agent_core import Agent, ScriptedModel, says\n"
HEALTHY = ["settings", "disk", "fsync", "secret", "database", "clock", "agents", "model"]
HEALTHY += ["slack", "email", "hooks", "port"]
OWN_MODEL = AGENT + "desk = Agent('desk', model=ScriptedModel([says('x')]))\n"


@pytest.fixture(autouse=True)
def healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with one agent and settings that work."""
    for name in list(os.environ):
        if name.startswith(("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PARLEY_PORT", "0")
    monkeypatch.setenv("PARLEY_AGENTS", "./desk_agents.py")
    (tmp_path / "desk_agents.py").write_text(OWN_MODEL)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("parley_agents_"):
            del sys.modules[name]


def found(name: str) -> Check:
    """Give one check."""
    return next(check for check in examine() if check.name == name)


def test_healthy_installation_is_all_ok_and_nothing_is_made(healthy: Path) -> None:
    """Looking changes nothing."""
    checks = list(examine())

    assert {check.name: check.status for check in checks} == dict.fromkeys(
        [
            "settings",
            "disk",
            "fsync",
            "secret",
            "database",
            "clock",
            "agents",
            "model",
            "slack",
            "email",
            "hooks",
            "port",
        ],
        "ok",
    )
    assert all(not check.todo for check in checks)
    assert [path.name for path in healthy.iterdir() if path.name != "__pycache__"] == [
        "desk_agents.py"
    ]


def test_wrong_settings_are_told_and_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else can be looked at without them."""
    monkeypatch.setenv("PARLEY_PORT", "x")

    (check,) = examine()

    assert (check.name, check.status) == ("settings", "fail")
    assert check.told.startswith("PARLEY_PORT can't be used")


def test_strange_variable_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a typing mistake; the rest is looked at."""
    monkeypatch.setenv("PARLEY_PROT", "1")

    assert "did you mean PARLEY_PORT?" in found("settings").told
    assert found("port").status == "ok"


def test_folder_that_is_missing_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs it is left out."""
    monkeypatch.setenv("PARLEY_DATABASE_URL", "sqlite:////nowhere/at/all/parley.db")

    assert found("disk") == Check(
        "disk", "fail", "/nowhere/at/all is not there", "mkdir -p /nowhere/at/all"
    )
    assert "database" not in [check.name for check in examine()]


@pytest.mark.parametrize(("free", "status"), [(500_000_000, "warn"), (1_000_000, "fail")])
def test_little_room_is_a_warning_and_none_a_failure(
    monkeypatch: pytest.MonkeyPatch, free: int, status: str
) -> None:
    """Before the disk is full, not after."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))

    assert found("disk").status == status


def test_folder_that_we_may_not_write_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before SQLite says it."""
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert "can't be written" in found("disk").told


def test_slow_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each commit waits for it."""
    monkeypatch.setattr(os, "fsync", lambda _: time.sleep(0.021))

    assert found("fsync").status == "warn"


def test_secret_that_others_may_read_is_a_warning(healthy: Path) -> None:
    """With the command that mends it."""
    kept = secret_file(healthy / "parley.db")
    kept.write_text("secret")
    kept.chmod(0o644)
    assert found("secret").todo == "chmod 600 parley.db.secret"
    kept.chmod(0o600)
    assert found("secret").status == "ok"


def test_damaged_database_is_a_failure(healthy: Path) -> None:
    """In the store's own words."""
    (healthy / "parley.db").write_text("no database at all" * 100)

    assert found("database").status == "fail"
    assert found("clock").status == "ok"


def test_database_that_answers_shows_its_schema() -> None:
    """Also while it has no threads."""
    with pytest.raises(SystemExit):
        main(["db", "upgrade"])

    assert "answers, schema 0" in found("database").told


def test_disabled_endpoints_of_callbacks_are_a_warning(healthy: Path) -> None:
    """Somebody waits for what is not sent any more; with none, all is well."""
    with pytest.raises(SystemExit):
        main(["db", "upgrade"])
    assert (found("callbacks").status, found("callbacks").todo) == ("ok", "")

    async def disable() -> None:
        store = SqliteStore(healthy / "parley.db")
        await store.open()
        memory = SealedMemory(store, "callback", b"s" * 32)
        endpoints = Endpoints(memory, lambda: 1)
        await endpoints.disable(parse_target("https://ci.example.com/in"), "answered 410")
        await store.close()

    asyncio.run(disable())

    assert (found("callbacks").status, found("callbacks").todo) == (
        "warn",
        "parley callbacks list, then enable and replay",
    )
    assert "1 endpoint" in found("callbacks").told


def test_older_schema_is_a_warning_and_is_not_upgraded_by_looking(healthy: Path) -> None:
    """The doctor changes nothing that lasts."""
    (healthy / "parley.db").touch()

    assert found("database").status == "warn"
    assert found("database").todo == "parley db upgrade"
    assert (healthy / "parley.db").stat().st_size == 0


def test_database_in_memory_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is good for trying things out, and for nothing else."""
    monkeypatch.setenv("PARLEY_DATABASE_URL", "memory:")

    assert found("database").status == "warn"


def test_unreachable_postgresql_is_a_failure_that_shows_no_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The URL has it; the line doesn't."""
    monkeypatch.setenv("PARLEY_DATABASE_URL", "postgresql://me:canary@127.0.0.1:9/parley")
    monkeypatch.setenv("PARLEY_SECRET_KEY", "0123456789abcdef")

    check = found("database")

    assert check.status == "fail"
    assert "canary" not in check.told + check.todo


def test_clock_that_went_back_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own files are from its future."""
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)

    assert found("clock").status == "fail"


def test_agents_that_can_not_be_loaded_are_a_failure(healthy: Path) -> None:
    """With the line of their module."""
    (healthy / "desk_agents.py").write_text("import nothing_like_this\n")

    assert "line 1: import nothing_like_this" in found("agents").told


def test_no_agents_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without any can still be looked at."""
    monkeypatch.setenv("PARLEY_AGENTS", "")

    assert found("agents").status == "warn"


def test_agent_without_a_model_needs_settings(
    healthy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known before its first message."""
    (healthy / "desk_agents.py").write_text(AGENT + "desk = Agent('desk')\n")
    assert found("model").status == "fail"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:canary@localhost:8000/v1")
    assert found("model").told == "http://localhost:8000/v1"


def test_port_that_another_program_has_is_a_failure_and_ours_is_not(
    canned: Canned, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who listens is asked: a server of ours may well be running."""
    monkeypatch.setenv("PARLEY_PORT", canned.url.rpartition(":")[2])
    assert found("port").status == "fail"
    canned.on("GET", "/healthz", {"status": "ok"})
    assert found("port").told.startswith("a server of ours is listening")


def test_host_that_is_not_ours_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address of another machine, or none at all."""
    monkeypatch.setenv("PARLEY_PORT", "80")
    monkeypatch.setenv("PARLEY_HOST", "192.0.2.1")
    monkeypatch.setattr(socket, "getaddrinfo", _no_such_host)

    assert found("port").status == "fail"


def _no_such_host(*_: object, **__: object) -> None:
    raise socket.gaierror(-2, "Name or service not known")


def test_doctor_prints_a_line_each_and_exits_1_if_one_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do below it; as JSON the same."""
    with pytest.raises(SystemExit) as ended:
        main(["doctor"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "ok    settings: read from the environment and .env"
    )
    monkeypatch.setenv("PARLEY_AGENTS", "nowhere")
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--json"])
    assert ended.value.code == 1
    assert '"status": "fail"' in capsys.readouterr().out


def test_events_that_slack_must_send_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No token can ask which are on: the operator is told where to look, and for what."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "shhh")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("SLACK_API_URL", f"http://127.0.0.1:{port}/api")

    token, events = (check for check in examine() if check.name == "slack")

    assert (token.status, "can't be reached" in token.told) == ("fail", True)
    assert events.status == "ok"
    assert all(name in events.todo for name in ("Event Subscriptions", *BOT_EVENTS))
