"""A gateway whose store has a key, and a story in it: a refund that one person had to allow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agent_core.thread.events import Millis, ThreadId
from gateway.audit.export import Export
from storage.seals import Seal
from storage.store import Store
from tests.doubles.seals import seal
from tests.unit.gateway.control.test_local import asked, paying
from tests.unit.gateway.workshop import Workshop, workshop

NOW = Millis(1_800_000_000_000)


@asynccontextmanager
async def refunded(
    store: Store, value: dict[str, Any] | None = None
) -> AsyncIterator[tuple[Workshop, ThreadId]]:
    """Tell the story: asked, answered by otto, paid, finished."""
    async with workshop(store, paying()) as here:
        thread, question = await asked(here)
        await here.gateway.answer(question, value or {"approved": True}, by="otto")
        await here.rested(thread)
        await here.released(thread)
        yield here, thread


async def exported(store: Store, key: Seal = seal, **which: Any) -> bytes:  # noqa: ANN401 (Export's own)
    """Export it."""
    return b"".join([lines async for lines in Export(store, key, NOW, **which).lines()])
