"""DBOS on SQLite: a workflow that sets an event, receives the answer, and goes on.

On SQLite it learns of answers by polling, each second by default: a cycle would take two. It
polls here as often as it can be told to, which is what makes its rate its own.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dbos  # type: ignore[import-not-found]  # it lives in an environment of its own

from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST, main

_PATIENCE = 30.0
_POLL = 0.001


async def _model(last: str) -> str:
    return DONE if last == REFUNDED else REPLY


async def _refund(_question: dict[str, Any]) -> str:
    return REFUNDED


class Dbos:
    """A workflow in this process."""

    version = importlib.metadata.version("dbos")

    def __init__(self, database: Path) -> None:
        self.database = database
        model, refund = dbos.DBOS.step()(_model), dbos.DBOS.step()(_refund)

        async def desk(request: str) -> str:
            await model(request)
            await dbos.DBOS.set_event_async("question", QUESTION)
            answer = await dbos.DBOS.recv_async("answer", timeout_seconds=_PATIENCE)
            assert answer == ANSWER
            said: str = await model(await refund(QUESTION))
            return said

        self.desk = dbos.DBOS.workflow()(desk)

    async def cycle(self, number: int) -> None:
        """Start, wait for the event, send the answer, wait for the result."""
        name = f"thread-{number}"
        with dbos.SetWorkflowID(name):
            handle = await dbos.DBOS.start_workflow_async(self.desk, REQUEST)
        assert await dbos.DBOS.get_event_async(name, "question", _PATIENCE) == QUESTION
        await dbos.DBOS.send_async(name, ANSWER, "answer")
        assert await handle.get_result() == DONE


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[Dbos]:  # noqa: ARG001 (one way only)
    """Launch DBOS on a new file."""
    database = folder / "dbos.db"
    config = {
        "name": "bench",
        "system_database_url": f"sqlite:///{database}",
        "run_admin_server": False,
        "log_level": "ERROR",
        "notification_listener_polling_interval_sec": _POLL,
    }
    dbos.DBOS(config=config)
    contender = Dbos(database)
    dbos.DBOS.launch()
    try:
        yield contender
    finally:
        dbos.DBOS.destroy()


if __name__ == "__main__":
    main(opened)
