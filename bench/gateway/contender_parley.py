"""Ours, as `parley serve` puts it together, without HTTP: intake, engine and outbox on a file."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.gateway.desk import clerk, desk
from bench.gateway.stopwatch import ANSWER, DONE, REQUEST, main
from channels.web.channel import WebChannel
from gateway.audit.key import audit_seal
from gateway.control.local import LocalGateway
from gateway.control.views import Launch
from gateway.outbox.sender import Sender
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.engine import Engine
from storage.store import Store
from storage.urls import open_store

_PATIENCE = 30.0


class Parley:
    """A gateway in this process."""

    version = importlib.metadata.version("parley")

    def __init__(self, gateway: LocalGateway) -> None:
        self.gateway = gateway

    async def cycle(self, _number: int) -> None:
        """Launch, wait for the question, answer it, wait for the end."""
        launched, _ = await self.gateway.launch(Launch(agent="desk", text=REQUEST), by="ann")
        waiting = await self.gateway.wait(launched.id, seconds=_PATIENCE)
        [question] = waiting.questions
        await self.gateway.answer(question.id, ANSWER, by="otto")
        finished = await self.gateway.wait(launched.id, seconds=_PATIENCE)
        assert finished.status == "finished"
        assert finished.result == DONE


class OnFile(Parley):
    """A gateway on a file."""

    def __init__(self, gateway: LocalGateway, database: Path) -> None:
        super().__init__(gateway)
        self.database = database


@asynccontextmanager
async def running(store: Store) -> AsyncIterator[Parley]:
    """Run a gateway on a store that is not open yet."""
    await store.open()
    hints, nearby = Hints(store), Nearby()
    agents = {agent.name: agent for agent in (desk, clerk)}
    sender = Sender(store, {"web": WebChannel()}, hints, nearby=nearby)
    parts = (hints, Engine(store, agents, hints, nearby=nearby), sender)
    tasks = [asyncio.create_task(part.run()) for part in parts]
    try:
        yield Parley(LocalGateway(store, agents, hints, nearby=nearby))
    finally:
        for task in reversed(tasks):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await store.close()


@asynccontextmanager
async def opened(folder: Path, way: str = "") -> AsyncIterator[OnFile]:  # noqa: ARG001 (one way only)
    """Run a gateway on a new file."""
    database = folder / "parley.db"
    store = open_store(f"sqlite:///{database}", seal=audit_seal(b"as it is served"))
    async with running(store) as ours:
        yield OnFile(ours.gateway, database)


if __name__ == "__main__":
    main(opened)
