"""DBOS's workflow: it sets an event, receives the answer, and goes on; whichever database."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dbos  # type: ignore[import-not-found]  # it lives in an environment of its own

from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST

_PATIENCE = 30.0


async def _model(last: str) -> str:
    return DONE if last == REFUNDED else REPLY


async def _refund(_question: dict[str, Any]) -> str:
    return REFUNDED


class Dbos:
    """A workflow in this process."""

    version = importlib.metadata.version("dbos")

    def __init__(self) -> None:
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


@contextmanager
def launched(url: str, **options: object) -> Iterator[Dbos]:
    """Launch it on a database."""
    dbos.DBOS(
        config={
            "name": "bench",
            "system_database_url": url,
            "run_admin_server": False,
            "log_level": "ERROR",
            **options,
        }
    )
    contender = Dbos()
    dbos.DBOS.launch()
    try:
        yield contender
    finally:
        dbos.DBOS.destroy()
