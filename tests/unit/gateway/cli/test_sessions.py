"""`parley sessions`: on the database itself, with no server anywhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent_core.loop.world import World
from gateway.control.memory import SealedMemory
from gateway.inbox.sessions import OWNER, Sessions
from storage.urls import open_store
from tests.unit.gateway.cli.conftest import Parley

SECRET = "s" * 32


def signed_in(file: Path, *names: str) -> None:
    """Let people sign in, as the server does."""

    async def begin() -> None:
        store = open_store(f"sqlite:///{file}")
        await store.open()
        sessions = Sessions(SealedMemory(store, OWNER, SECRET.encode()), World().now)
        for name in names:
            await sessions.begin("slack", identity=f"slack:T1:{name}", name=name)
        await store.close()

    asyncio.run(begin())


def test_who_is_signed_in_is_listed_and_signed_out(parley: Parley, tmp_path: Path) -> None:
    """By a name all of theirs, by an id one; the id opens nothing."""
    file = tmp_path / "parley.db"
    (tmp_path / "parley.db.secret").write_text(SECRET)
    signed_in(file, "otto", "ann", "otto")
    listed = parley("sessions", "list", "--json").data["items"]

    assert sorted(one["name"] for one in listed) == ["ann", "otto", "otto"]
    assert {one["by"] for one in listed} == {"slack"}
    assert parley("sessions", "revoke", "otto", "--json").data == {"revoked": 2}
    ann = next(one["id"] for one in listed if one["name"] == "ann")
    assert ann in parley("sessions", "list").out
    assert parley("sessions", "revoke", ann).code == 0
    assert "nobody is signed in" in parley("sessions", "list").err


def test_nobody_of_that_name_is_told(parley: Parley, tmp_path: Path) -> None:
    """With where to look."""
    (tmp_path / "parley.db.secret").write_text(SECRET)
    signed_in(tmp_path / "parley.db")
    ran = parley("sessions", "revoke", "eve")

    assert ran.code == 1
    assert "parley sessions list" in ran.err
