"""The store under test: each kind in turn, opened on a clean database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from storage.errors import StoreUnreachable
from storage.seals import fault
from storage.store import Store
from tests.contract.stores.places import PLACES, Place
from tests.doubles.seals import seal


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Give a clean database of each kind."""
    async with PLACES[request.param](tmp_path) as clean:
        yield clean


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    """Give a store on it, opened; whatever a test does, the chains fit what was written."""
    opened = place.store()
    await opened.open()
    yield opened
    with suppress(StoreUnreachable):  # closed by the test
        logs = await opened.audit().logs(limit=1000)
        assert not [(log.thread, fault(seal, log)) for log in logs if fault(seal, log)]
    await opened.close()


@pytest.fixture
async def another(place: Place, store: Store) -> AsyncIterator[Store]:
    """Give a second store on the same data, opened."""
    opened = place.another()
    await opened.open()
    yield opened
    await opened.close()
