"""`parley db copy`: what it refuses before it has touched anything, and what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.audit.beginning import begin
from gateway.audit.key import audit_seal
from storage.sqlite import SqliteStore
from tests.unit.gateway.audit.ledger import NOW
from tests.unit.gateway.cli.conftest import Parley

FILE, DATABASE = "sqlite:///parley.db", "postgresql://127.0.0.1:1/parley"
SECRET = "0123456789abcdef" * 4


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """Give a file on which a server has run, with a secret key from its environment."""
    seal = audit_seal(SECRET.encode())

    async def run() -> None:
        store = SqliteStore(tmp_path / "parley.db", seal=seal)
        await store.open()
        await begin(store, seal, now=NOW)
        await store.close()

    asyncio.run(run())
    return tmp_path / "parley.db"


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        (DATABASE, FILE, "from PostgreSQL to SQLite nothing can be copied"),
        (FILE, "sqlite:///other.db", "give the SQLite file first"),
        (DATABASE, DATABASE, "give the SQLite file first"),
        ("parley.db", DATABASE, "SQLITE_URL: 'parley.db' is not a database URL"),
        (FILE, "mysql://host/name", "POSTGRES_URL: there is no store of the kind 'mysql'"),
    ],
)
def test_two_databases_of_the_wrong_kind_are_wrong_usage(
    parley: Parley, source: str, target: str, told: str
) -> None:
    """Exit 2, with what it should look like."""
    ran = parley("db", "copy", source, target)

    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err


def test_secret_that_is_not_known_is_asked_for_before_anything_is_copied(
    parley: Parley, sealed: Path
) -> None:
    """What the channels keep could not be opened there, and no seal would fit."""
    ran = parley("db", "copy", FILE, DATABASE)

    assert ran.code == 2
    assert "set PARLEY_SECRET_KEY as it is for the server" in ran.err


def test_another_secret_is_refused_before_anything_is_copied(
    parley: Parley, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 1: the audit of this file was sealed with another one."""
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET[::-1])

    ran = parley("db", "copy", FILE, DATABASE)

    assert ran.code == 1
    assert "sealed with another PARLEY_SECRET_KEY" in ran.err


def test_right_secret_leads_to_the_target(
    parley: Parley, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which does not answer here: exit 1, and the file can be used as before."""
    monkeypatch.setenv("PARLEY_SECRET_KEY", SECRET)

    ran = parley("db", "copy", FILE, DATABASE)

    assert ran.code == 1
    assert "the target: PostgreSQL can't be reached" in ran.err
    assert parley("keys", "list").code == 0


def test_reopening_what_never_moved_says_so(parley: Parley, sealed: Path) -> None:
    """Nothing is changed, and nothing is wrong."""
    ran = parley("db", "reopen", FILE, "--json")

    assert (ran.code, ran.data) == (0, {"moved_to": None})
    assert "had not moved" in ran.err
    assert parley("db", "reopen", DATABASE).code == 2
