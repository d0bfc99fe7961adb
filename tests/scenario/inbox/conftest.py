"""One browser for all tests of a module; they share its loop."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.doubles.browser import Chromium, chromium


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Chromium]:
    """Start Chromium."""
    async with chromium() as started:
        yield started
