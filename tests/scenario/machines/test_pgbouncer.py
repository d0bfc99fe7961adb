"""A pool before PostgreSQL: by session nobody notices, by transaction it is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from storage.errors import BadStoreUrl
from storage.postgres import PostgresStore
from tests.doubles.pgbouncer import PROGRAM, pgbouncer
from tests.doubles.postgres import postgres_url, upgraded
from tests.doubles.supervisor import run_parley
from tests.scenario.gateway.machines import environ_of
from tests.scenario.machines.crew import AGENTS, crew

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed"),
    pytest.mark.timeout(90),
]


@pytest.fixture
async def database() -> AsyncIterator[str]:
    """Give a database with our tables."""
    async with postgres_url(upgraded) as url:
        yield url


async def test_whole_story_through_a_pool_by_session(tmp_path: Path, database: str) -> None:
    """A door and a worker, each behind it: asked, answered, finished; and hints come through."""
    async with (
        pgbouncer(database, "session") as pooled,
        crew(tmp_path, "web worker", database=database, seen_as=pooled) as site,
    ):
        thread = await site.launch("clerk", "hello")
        [question] = (await site.status(thread, "waiting"))["questions"]
        answer = {"value": "go on"}
        await site.call("POST", f"/v1/questions/{question['id']}/answer", answer)
        assert (await site.status(thread, "finished"))["result"] == "thanks"

        slow = await site.launch("thinker", "idea")
        await site.written("begin idea")
        async with asyncio.timeout(1.0):  # by a hint: the lease is looked after less often
            await site.call("POST", f"/v1/threads/{slow}/pause", {})
            await site.written("stopped idea")


async def test_pool_by_transaction_is_refused_in_words(tmp_path: Path, database: str) -> None:
    """Hints would never come, and settings of a session would be somebody else's."""
    (tmp_path / "agents.py").write_text(AGENTS)
    async with pgbouncer(database, "transaction") as pooled:
        store = PostgresStore(pooled)
        with pytest.raises(BadStoreUrl, match="pool_mode = session"):
            await store.open()

        for command, code in (["serve"], 1), (["doctor"], 1):
            asked = partial(run_parley, command, tmp_path, environ_of(pooled), stdin="", seconds=30)
            told = await asyncio.to_thread(asked)
            assert told.returncode == code
            assert "pool_mode = session" in told.stdout + told.stderr
