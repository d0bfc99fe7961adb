"""Moving up: a thread that waits for a person on SQLite is answered on PostgreSQL, and goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.postgres import postgres_url
from tests.scenario.gateway.cli_installation import Installation, installation, waiting_for

FILE = "sqlite:///parley.db"


@pytest.fixture
async def target() -> AsyncIterator[str]:
    """An empty database, as `createdb` makes it."""
    async with postgres_url() as url:
        yield url


async def test_waiting_thread_is_taken_along_and_resumes_when_it_is_answered_there(
    tmp_path: Path, target: str
) -> None:
    """As in docs/moving-up.md: ahead while the server runs, then the rest, then the new side."""
    with installation(tmp_path) as site:
        thread = site.data("launch", "desk", "Please refund order 1042")["id"]
        question = waiting_for(site, thread, "waiting")["questions"][0]["id"]

        ahead = site.data("db", "copy", FILE, target, "--ahead")
        too_early = site.run("db", "copy", FILE, target)
        site.stop()
        end = site.data("db", "copy", FILE, target)
        too_late = site.data("db", "copy", FILE, target, "--ahead")
        old_side = site.run("serve")

        assert (ahead["finished"], end["finished"], end["audit"]["ok"]) == (False, True, True)
        assert (too_late["finished"], too_late["rows"]) == (True, 0)
        assert 0 == end["written"] < end["rows"] == ahead["rows"]
        assert too_early.returncode == old_side.returncode == 1
        assert "Stop that server" in too_early.stderr
        assert "this installation has moved to postgresql://" in old_side.stderr
        _change_over(site, target)
        site.data("questions", "answer", question, "--approve")
        assert waiting_for(site, thread, "finished")["result"] == "All done."
        assert (tmp_path / "ledger.txt").read_text() == "1042 59.9\n"
        assert site.data("audit", "verify")["ok"]


def _change_over(site: Installation, target: str) -> None:
    """Set what the command says, and start; the API key is the one from before."""
    site.more |= {
        "PARLEY_DATABASE_URL": target,
        "PARLEY_SECRET_KEY": (site.folder / "parley.db.secret").read_text().strip(),
    }
    site.start()
