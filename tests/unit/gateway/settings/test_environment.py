"""Settings: where they come from, and how a wrong one is told."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent_core.models.server import DEFAULT_MODEL
from gateway.settings.environment import (
    ALL,
    ClientSettings,
    DatabaseSettings,
    ModelSettings,
    Settings,
    SettingsError,
    adopt_env_file,
    load,
    load_settings,
    variables,
    warnings,
)

EXAMPLE = Path(__file__).resolve().parents[4] / ".env.example"
CANARY = "canary-7f3a9c"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("PARLEY_", "OPENAI_", "SLACK_", "EMAIL_", "SMTP_", "IMAP_")):
            monkeypatch.delenv(name)
    return tmp_path


def refusal(kind: type[Settings | ModelSettings | ClientSettings]) -> str:
    """Give what is told of wrong settings."""
    with pytest.raises(SettingsError) as caught:
        load(kind)
    return str(caught.value)


def test_with_nothing_set_everything_has_a_default() -> None:
    """One machine needs no settings at all."""
    settings = load_settings()

    assert settings.database_url == "sqlite:///parley.db"
    assert (settings.host, settings.port, settings.url) == (
        "127.0.0.1",
        8080,
        "http://127.0.0.1:8080",
    )
    assert (settings.agents, settings.log_level, settings.log_format) == ((), "info", "text")
    assert load(ClientSettings).url == "http://127.0.0.1:8080"


def test_environment_wins_over_the_file(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.env` in the working folder is read; what the environment says is stronger."""
    (empty_folder / ".env").write_text("PARLEY_PORT=1111\nPARLEY_HOST=0.0.0.0\n")
    monkeypatch.setenv("PARLEY_PORT", "2222")

    settings = load_settings()

    assert (settings.host, settings.port) == ("0.0.0.0", 2222)  # noqa: S104


def test_empty_variable_is_as_good_as_none(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.env.example` copied as it is changes nothing, nor does `PARLEY_PORT= parley serve`."""
    (empty_folder / ".env").write_text(EXAMPLE.read_text())
    monkeypatch.setenv("PARLEY_PORT", "")

    copied = load_settings()
    (empty_folder / ".env").unlink()

    assert copied == load_settings()


def test_names_of_other_programs_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """HOST and PORT belong to whoever set them."""
    monkeypatch.setenv("HOST", "elsewhere")
    monkeypatch.setenv("PORT", "99999")
    monkeypatch.setenv("LOG", "loud")

    assert load_settings().url == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("name", "value", "looks_like"),
    [
        ("PARLEY_DATABASE_URL", f"mysql://{CANARY}", "sqlite:///parley.db"),
        ("PARLEY_DATABASE_URL", "sqlite:///", "sqlite:///parley.db"),
        ("PARLEY_DATABASE_URL", CANARY, "postgresql://user:password@host/database"),
        ("PARLEY_PORT", "eighty", "from 0 (any free one) to 65535"),
        ("PARLEY_PORT", "70000", "from 0 (any free one) to 65535"),
        ("PARLEY_PUBLIC_URL", f"{CANARY}.example.com", "https://parley.example.com"),
        ("PARLEY_PUBLIC_URL", "https://host:port", "https://parley.example.com"),
        ("PARLEY_SECRET_KEY", CANARY, "openssl rand -hex 32"),
        ("PARLEY_LOG", "loud", "debug, info, warning or error"),
        ("PARLEY_LOG", "json/text", "debug, info, warning or error"),
    ],
)
def test_wrong_setting_is_named_with_what_it_should_look_like(
    name: str, value: str, looks_like: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the variable and shows a right value, never the wrong one."""
    monkeypatch.setenv(name, value)

    told = refusal(Settings)

    assert told.startswith(f"{name} ")
    assert looks_like in told
    assert CANARY not in told


def test_all_that_is_wrong_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody should have to start a server three times to find three mistakes."""
    monkeypatch.setenv("PARLEY_PORT", "x")
    monkeypatch.setenv("PARLEY_LOG", "x")

    assert [line.split()[0] for line in refusal(Settings).splitlines()] == [
        "PARLEY_PORT",
        "PARLEY_LOG",
    ]


def test_postgresql_needs_the_secret_that_all_machines_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each machine would otherwise make its own, and refuse what the others have signed."""
    monkeypatch.setenv("PARLEY_DATABASE_URL", "postgresql://parley@db/parley")

    assert refusal(Settings).startswith("PARLEY_SECRET_KEY is not set")
    assert load(DatabaseSettings).database_url == "postgresql://parley@db/parley"

    monkeypatch.setenv("PARLEY_SECRET_KEY", "0123456789abcdef")
    assert load_settings().secret_key is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPENAI_BASE_URL", "shop.example:8000"), ("OPENAI_API_KEY", "sk-with\u00e9-canary")],
)
def test_model_settings_that_no_server_takes_are_refused_before_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first message to an agent is too late to find out."""
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError, match=name) as caught:
        load_settings()
    assert value not in str(caught.value)


def test_key_that_would_break_the_header_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The HTTP library would quote it in its complaint."""
    monkeypatch.setenv("PARLEY_API_KEY", f"{CANARY}\nX-Other: 1")

    told = refusal(ClientSettings)

    assert told.startswith("PARLEY_API_KEY can't be used")
    assert CANARY not in told


def test_unreadable_file_of_settings_is_named(empty_folder: Path) -> None:
    """A `.env` that is no text is told, not a traceback."""
    (empty_folder / ".env").write_bytes(b"PARLEY_PORT=\xff\xfe")

    assert str(empty_folder / ".env") in refusal(Settings)


def test_unknown_variable_is_warned_of_with_the_nearest_name(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistyped name would otherwise be ignored in silence; in the file as in the environment."""
    monkeypatch.setenv("PARLEY_DATABSE_URL", "x")
    monkeypatch.setenv("PARLEY_PYTHON", "python3")
    (empty_folder / ".env").write_text("PARLEY_QQQQQQ=1\nOTHER=2\n")

    assert warnings() == [
        "PARLEY_DATABSE_URL is no setting of Parley's; did you mean PARLEY_DATABASE_URL?",
        "PARLEY_QQQQQQ is no setting of Parley's",
    ]


def test_agents_find_their_own_variables_in_the_file_too(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools read os.environ; `.env` reaches it, and never replaces what is there."""
    monkeypatch.setenv("SHOP_TOKEN", "from the environment")
    monkeypatch.setenv("SHOP_URL", "")
    (empty_folder / ".env").write_text("SHOP_TOKEN=from the file\nSHOP_URL=http://shop\n")

    adopt_env_file()

    assert os.environ["SHOP_TOKEN"] == "from the environment"
    assert os.environ["SHOP_URL"] == "http://shop"


def test_example_tells_every_setting_with_its_default_and_no_other() -> None:
    """`.env.example` is the reference: both ways, names and defaults."""
    shown = re.findall(r"Default: ([^\n]+(?:\n# [^\n]+)*)\n([A-Z_]+)=", EXAMPLE.read_text())
    told = {name: " ".join(default.replace("\n# ", " ").split()) for default, name in shown}
    real = {name: default for kind in ALL for name, default in variables(kind).items()}
    in_words = {
        "PARLEY_PUBLIC_URL": "http://HOST:PORT",
        "PARLEY_SECRET_KEY": "made at the first start, and kept beside the SQLite file",
        "PARLEY_CONFIG": "parley.toml in the working folder, if there is one",
        "EMAIL_VERIFY_DKIM": "false",
        "PARLEY_CALLBACK_SECRET": "made from PARLEY_SECRET_KEY, and shown by "
        "`parley callbacks secret`",
        "OPENAI_BASE_URL": "OpenAI's",
        "OPENAI_MODEL": DEFAULT_MODEL,
    }

    assert told == {
        name: in_words.get(name) or (str(default) if default else "none")
        for name, default in real.items()
    }
