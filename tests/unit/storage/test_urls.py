"""Which store a URL names; and that choosing one pays for no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from storage.errors import BadStoreUrl
from storage.locations import File, Location, Memory, Server, locate
from storage.memory import MemoryStore
from storage.sqlite import SqliteStore
from storage.urls import open_store


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("sqlite:///parley.db", File(Path("parley.db"))),
        ("sqlite:///data/my%20file.db", File(Path("data/my file.db"))),
        ("sqlite:////srv/parley.db", File(Path("/srv/parley.db"))),
        ("SQLite:////srv/parley.db", File(Path("/srv/parley.db"))),
        ("file:parley.db", File(Path("parley.db"))),
        ("file:/srv/parley.db", File(Path("/srv/parley.db"))),
        ("file:///srv/parley.db", File(Path("/srv/parley.db"))),
        (
            "postgresql://u:p@h:5432/d?sslmode=require",
            Server("postgresql://u:p@h:5432/d?sslmode=require"),
        ),
        ("postgres://h/d", Server("postgresql://h/d")),
        ("postgresql:///d?host=/run/pg", Server("postgresql:///d?host=/run/pg")),
        ("memory:", Memory()),
        ("memory://", Memory()),
    ],
)
def test_url_names_a_place(url: str, location: Location) -> None:
    """The three kinds, and the spellings that people use."""
    assert location == locate(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "parley.db",
        "/srv/parley.db",
        "mysql://h/d",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite:////",
        "sqlite:parley.db",
        "sqlite://parley.db",
        "sqlite:///:memory:",
        "sqlite:///a.db?mode=ro",
        "sqlite:///a%00.db",
        "file:",
        "file://host/parley.db",
        "postgresql:d",
        "postgresql://h:port/d",
        "memory://somewhere",
    ],
)
def test_url_that_names_nothing_is_refused_with_an_example(url: str) -> None:
    """The error says how one looks."""
    with pytest.raises(BadStoreUrl, match=r"sqlite:///parley\.db or postgresql://"):
        locate(url)


def test_password_is_never_repeated() -> None:
    """What a person mistyped stands in logs."""
    for url in ("mysql://u:hunter2@h/d", "postgresql://u:hunter2@h:x/d", "postgresql:u:hunter2@h"):
        with pytest.raises(BadStoreUrl) as caught:
            locate(url)
        assert "hunter2" not in f"{caught.value}"


def test_store_is_picked_by_its_url(tmp_path: Path) -> None:
    """Not opened yet."""
    assert isinstance(open_store("memory:"), MemoryStore)
    assert isinstance(open_store(f"sqlite:///{tmp_path}/parley.db"), SqliteStore)
    assert not (tmp_path / "parley.db").exists()


OPEN = """
import asyncio, sys
from storage.urls import open_store

async def main():
    store = open_store(sys.argv[1])
    await store.open()
    await store.close()

asyncio.run(main())
heavy = {"alembic", "asyncpg", "sqlalchemy", "sqlmodel", "openai"}
print(*sorted(heavy & sys.modules.keys()))
"""


def test_opening_sqlite_imports_no_orm(tmp_path: Path) -> None:
    """A new file and a current one need neither Alembic nor SQLModel: half a second of start-up."""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", OPEN, f"sqlite:///{tmp_path}/parley.db"],
            capture_output=True,
            text=True,
            check=True,
        )

        assert done.stdout.strip() == ""
