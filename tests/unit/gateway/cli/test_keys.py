"""`parley keys` and `parley db`: on the database itself, with no server anywhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.control.keys import key_hash
from storage.urls import open_store
from tests.unit.gateway.cli.conftest import Parley


def scopes_of(file: Path, key: str) -> tuple[str, ...] | None:
    """Look a key up as the server does."""

    async def look() -> tuple[str, ...] | None:
        store = open_store(f"sqlite:///{file}")
        await store.open()
        try:
            found = await store.key_by_hash(key_hash(key))
        finally:
            await store.close()
        return None if found is None else found.scopes

    return asyncio.run(look())


def test_key_is_printed_once_and_works_before_a_server_ever_ran(
    parley: Parley, tmp_path: Path
) -> None:
    """`--json` prints it with what is kept of it; the database has only its hash."""
    ran = parley("keys", "create", "admin", "--scope", "admin", "--json")

    made = ran.data
    assert (ran.code, ran.err) == (0, "")
    assert set(made) == {"key", "id", "name", "scopes", "created_at", "revoked_at"}
    assert scopes_of(tmp_path / "parley.db", made["key"]) == ("admin",)
    assert made["key"].encode() not in (tmp_path / "parley.db").read_bytes()
    assert made["key"] not in parley("keys", "list", "--json").out


def test_key_alone_is_data_and_what_is_said_of_it_is_talk(parley: Parley, tmp_path: Path) -> None:
    """`export PARLEY_API_KEY=$(parley keys create …)`."""
    ran = parley("keys", "create", "ci", "--scope", "launch", "--scope", "read")

    assert scopes_of(tmp_path / "parley.db", ran.out.strip()) == ("launch", "read")
    assert "ci may launch, read" in ran.err


@pytest.mark.parametrize("options", [[], ["--scope", "root"]])
def test_key_without_a_scope_that_exists_is_wrong_usage(
    parley: Parley, tmp_path: Path, options: list[str]
) -> None:
    """The scopes are listed, and nothing was made."""
    ran = parley("keys", "create", "ci", *options)

    assert (ran.code, ran.out) == (2, "")
    assert "launch, answer, control, read, admin" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_revoked_key_is_useless_and_stays_in_the_list(parley: Parley, tmp_path: Path) -> None:
    """By its id, or by a name that means only one."""
    first = parley("keys", "create", "ci", "--scope", "read", "--json").data
    second = parley("keys", "create", "ci", "--scope", "read", "--json").data

    assert "several keys are called 'ci'" in parley("keys", "revoke", "ci").err
    assert parley("keys", "revoke", first["id"]).out == f"{first['id']}\n"
    assert parley("keys", "revoke", "ci", "--json").data["id"] == second["id"]
    again = parley("keys", "revoke", "ci")
    assert (again.code, again.err) == (1, "parley: ci was revoked before\n")
    assert parley("keys", "revoke", "other").code == 1
    assert scopes_of(tmp_path / "parley.db", first["key"]) is None
    listed = parley("keys", "list", "--json").data["items"]
    assert [one["revoked_at"] is None for one in listed] == [False, False]
    assert "ci" in parley("keys", "list").out


def test_no_keys_is_said(parley: Parley) -> None:
    """With how to make one."""
    ran = parley("keys", "list")

    assert (ran.code, ran.out) == (0, "")
    assert "parley keys create" in ran.err


def test_upgrade_makes_the_tables_once(parley: Parley, tmp_path: Path) -> None:
    """The second time there is nothing to do, and that is no error."""
    first = parley("db", "upgrade", "--json")
    second = parley("db", "upgrade")

    assert (first.code, first.data["before"]) == (0, None)
    assert first.data["version"] in second.err
    assert "was up to date" in second.err
    assert (tmp_path / "parley.db").exists()


def test_database_that_can_not_be_opened_is_told_in_words(
    parley: Parley, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1 and a sentence, whatever it is; a wrong URL is a wrong setting, exit 2."""
    (tmp_path / "parley.db").write_text("this is no database, and long enough to be none" * 50)
    ran = parley("keys", "list")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("parley: ")
    assert "parley.db" in ran.err

    monkeypatch.setenv("PARLEY_DATABASE_URL", "mysql://x")
    ran = parley("keys", "list")
    assert ran.code == 2
    assert ran.err.startswith("parley: PARLEY_DATABASE_URL can't be used: it should be sqlite:///")
