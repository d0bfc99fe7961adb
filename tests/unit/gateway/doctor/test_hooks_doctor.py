"""`parley doctor` on hooks: what it finds, and what it says to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.doctor import hooks_doctor
from gateway.doctor.hooks_doctor import Finding, examine_hooks
from gateway.settings.environment import Settings, load
from tests.unit.gateway.canned import Canned, canned_server

GOOD = "8f2b9c41d7e6035a8f2b9c41d7e6035a"
OUTSIDE = "https://parley.example.com"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def canned() -> Iterator[Canned]:
    """A server that answers as it is told."""
    with canned_server() as server:
        yield server


def findings(
    monkeypatch: pytest.MonkeyPatch, secret: str = GOOD, toml: str = "", url: str = OUTSIDE
) -> list[Finding]:
    """Look at one hook with this secret."""
    Path("parley.toml").write_text(
        toml or '[hooks.ci]\npreset = "github-ci"\nsecret_env = "CI_SECRET"\n'
    )
    monkeypatch.setenv("CI_SECRET", secret)
    monkeypatch.setenv("PARLEY_PUBLIC_URL", url)
    settings = load(Settings)
    return list(examine_hooks(settings, ["desk"], is_running=False))


def test_good_hook_is_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the secret itself is never told."""
    found = findings(monkeypatch)

    assert [one.status for one in found] == ["ok", "ok"]
    assert found[0].told == "ci: scheme github"
    assert GOOD not in str(found)


def test_without_hooks_there_is_nothing_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a public address is needed."""
    (found,) = findings(monkeypatch, toml="# nothing", url="")

    assert found.status == "ok"


@pytest.mark.parametrize("secret", ["hunter2", "a" * 40, "abab" * 10])
def test_weak_secret_is_a_warning(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    """Whoever guesses it can say anything to the agent."""
    found = findings(monkeypatch, secret)

    assert (found[0].status, "openssl rand" in found[0].todo) == ("warn", True)
    assert secret not in found[0].told


def test_password_of_basic_counts_without_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long name makes no strong password."""
    toml = '[hooks.ci]\nscheme = "basic"\nmessage = "m"\nsecret_env = "CI_SECRET"\n'

    assert findings(monkeypatch, "jenkins-of-acme-corp:pass", toml)[0].status == "warn"
    assert findings(monkeypatch, f"j:{GOOD}", toml)[0].status == "ok"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[hooks.ci]\npreset = "nope"\nsecret_env = "CI_SECRET"\n', "there is no 'nope'"),
        ('[hooks.ci]\npreset = "github-ci"\nsecret_env = "GONE"\n', "GONE is not set"),
        ('[hooks.ci]\npreset = "github-ci"\nsecret_env = "CI_SECRET"\nagent="x"', "no agent 'x'"),
        ("[hooks.ci]\npreset = 1", "hooks.ci"),
        ("[hooks", "not TOML"),
    ],
)
def test_hook_that_cannot_work_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, toml: str, words: str
) -> None:
    """As the server would say it, before anything starts."""
    (found,) = findings(monkeypatch, toml=toml)

    assert (found.status, words in found.told) == ("fail", True)


@pytest.mark.parametrize(
    "url", ["", "http://localhost:8080", "https://10.0.0.7", "http://parley", "https://x.local"]
)
def test_address_that_nobody_outside_reaches_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """The sender's side would only say that nobody answered."""
    found = findings(monkeypatch, url=url)[-1]

    assert (found.status, "PARLEY_PUBLIC_URL" in found.todo) == ("warn", True)


def test_address_without_tls_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens can be read on the way."""
    found = findings(monkeypatch, url="http://parley.example.com")[-1]

    assert (found.status, "not https" in found.told) == ("warn", True)


def test_address_that_answers_is_told_from_one_that_does_not(canned: Canned) -> None:
    """It is asked as a sender would."""
    canned.on("GET", "/healthz", {"status": "ok"})

    assert hooks_doctor._answers(canned.url)
    assert not hooks_doctor._answers("http://127.0.0.1:1")
