"""Keys of the API, and the server's own secret."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_core.thread.events import Millis
from gateway.control.keys import BadKey, key_hash, new_key, secret_file, secret_key
from gateway.settings.environment import Settings, SettingsError

NOW = Millis(1_000)


def settings(**values: object) -> Settings:
    """Settings from these values alone."""
    return Settings.model_validate(values)


def test_key_is_kept_as_a_hash_and_never_twice_the_same() -> None:
    """256 bits of chance behind `pk_`; the row has its SHA-256 and nothing else of it."""
    text, row = new_key("ci", ["read", "launch"], now=NOW)
    other, _ = new_key("ci", ["read"], now=NOW)

    assert text.startswith("pk_")
    assert len(text) == len("pk_") + 43
    assert text != other
    assert row.hash == hashlib.sha256(text.encode()).hexdigest() == key_hash(text)
    assert text[3:] not in repr(row)
    assert (row.name, row.scopes, row.created_at) == ("ci", ("launch", "read"), NOW)


@pytest.mark.parametrize("scopes", [[], ["write"], ["read", "root"]])
def test_scope_that_means_nothing_is_refused(scopes: list[str]) -> None:
    """The message lists those that there are."""
    with pytest.raises(BadKey, match="launch, answer, control, read, admin"):
        new_key("ci", scopes, now=NOW)


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 201])
def test_name_that_no_log_line_can_show_is_refused(name: str) -> None:
    """A key's name stands in the log as who did something."""
    with pytest.raises(BadKey, match="one line"):
        new_key(name, ["read"], now=NOW)


def test_secret_is_made_once_and_kept_beside_the_database(tmp_path: Path) -> None:
    """Nobody else may read it, and a restart finds it again."""
    server = settings(database_url=f"sqlite:///{tmp_path}/parley.db")

    first = secret_key(server)

    kept = secret_file(tmp_path / "parley.db")
    assert first == secret_key(server) == kept.read_bytes().strip()
    assert len(first) >= 32
    assert kept.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [kept]


def test_processes_that_start_together_agree_on_one_secret(tmp_path: Path) -> None:
    """The first to finish wins, and all the others read what it wrote."""
    server = settings(database_url=f"sqlite:///{tmp_path}/parley.db")

    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: secret_key(server), range(8)))

    assert len(made) == 1


def test_secret_that_was_set_is_taken_and_nothing_is_written(tmp_path: Path) -> None:
    """PARLEY_SECRET_KEY wins over the file."""
    server = settings(database_url=f"sqlite:///{tmp_path}/parley.db", secret_key="0123456789abcdef")

    assert secret_key(server) == b"0123456789abcdef"
    assert list(tmp_path.iterdir()) == []


def test_secret_that_can_not_be_kept_is_told_with_the_way_out(tmp_path: Path) -> None:
    """A folder that is not there, and a file that was emptied."""
    with pytest.raises(SettingsError, match="or set PARLEY_SECRET_KEY"):
        secret_key(settings(database_url=f"sqlite:///{tmp_path}/nowhere/parley.db"))
    secret_file(tmp_path / "parley.db").touch()
    with pytest.raises(SettingsError, match=r"parley.db.secret is empty"):
        secret_key(settings(database_url=f"sqlite:///{tmp_path}/parley.db"))


def test_secret_is_also_kept_where_files_have_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some network and memory card file systems can't link."""

    def refuse(*_: object) -> None:
        raise PermissionError(os.strerror(1))

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    server = settings(database_url=f"sqlite:///{tmp_path}/parley.db")

    assert secret_key(server) == secret_key(server)
