"""The command line on PostgreSQL: upgrade first, then keys, and two roles on one database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.postgres import postgres_url
from tests.scenario.gateway.cli_installation import AGENTS, Installation, free_port, waiting_for


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Installation]:
    """An installation on an empty database, with nothing running yet."""
    (tmp_path / "agents.py").write_text(AGENTS)
    async with postgres_url() as url:
        more = {"PARLEY_DATABASE_URL": url, "PARLEY_SECRET_KEY": "0123456789abcdef"}
        made = Installation(tmp_path, free_port(), more=more)
        yield made
        made.close()


async def test_database_is_upgraded_on_purpose_before_anything_else(site: Installation) -> None:
    """Many machines share it, so no command upgrades it by the way; each says what to do."""
    early = site.run("keys", "create", "otto", "--scope", "admin")
    serving = site.run("serve")
    looking = site.run("doctor")

    for refused in (early, serving):
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "parley db upgrade" in refused.stderr
    assert looking.returncode == 1
    assert "parley db upgrade" in looking.stdout
    assert site.data("db", "upgrade")["before"] is None
    assert site.data("keys", "create", "otto", "--scope", "admin")["key"].startswith("pk_")


async def test_one_process_answers_requests_and_another_runs_the_agents(
    site: Installation,
) -> None:
    """A question that is answered at the one wakes the other."""
    site.data("db", "upgrade")
    site.key = site.data("keys", "create", "otto", "--scope", "admin")["key"]
    site.start("web")
    site.begin("serve", "--role", "worker")

    thread = site.data("launch", "desk", "Please refund order 1042")["id"]
    question = waiting_for(site, thread, "waiting")["questions"][0]["id"]
    site.data("questions", "answer", question, "--approve")

    assert waiting_for(site, thread, "finished")["result"] == "All done."
    assert (site.folder / "ledger.txt").read_text() == "1042 59.9\n"
