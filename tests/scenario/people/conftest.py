"""One house for all stories that don't end it: starting one takes longer than a story."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.doubles.postgres import postgres_url, upgraded
from tests.scenario.people.household import Household, household

_NUMBERS = itertools.count(1)


@pytest.fixture
def order() -> str:
    """Name an order that no other story is about."""
    return f"X{next(_NUMBERS):03}Z"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Household]:
    """Run one server, on SQLite."""
    async with household(tmp_path_factory.mktemp("people") / "house") as running:
        await running.start()
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Household]:
    """Run two servers, on one PostgreSQL."""
    folder = tmp_path_factory.mktemp("people") / "pair"
    async with (
        postgres_url(upgraded) as database,
        household(folder, database=database, servers=2) as running,
    ):
        running.database = database
        await running.start(lease_ms=0)
        yield running
