"""What the tests of sending stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.unit.channels.slack.sending.wires import Wires, wired


@pytest.fixture
async def wires() -> AsyncIterator[Wires]:
    """Give a double with a conversation, and what speaks there."""
    async with wired() as one:
        yield one
