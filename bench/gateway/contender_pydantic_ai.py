"""Pydantic AI: a tool that requires approval ends the run; its messages as JSON are the state.

What its page on deferred tools shows: `requires_approval=True`, `DeferredToolRequests` as an output
type, and a second run with the message history and the approvals. It has no store for these, so
the application keeps the messages: a row of JSON when the run pauses, and one when it is done.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic_ai import (  # type: ignore[import-not-found]  # in an environment of its own
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
)
from pydantic_ai.messages import (  # type: ignore[import-not-found]
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import FunctionModel  # type: ignore[import-not-found]
from pydantic_ai.usage import RequestUsage  # type: ignore[import-not-found]

from bench.gateway.shelf import Shelf, shelf
from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST, main

_ARGUMENTS = {"order": "A-123", "amount": 49.9}
_CALL = "call-1"


async def _model(messages: list[Any], _info: object) -> Any:  # noqa: ANN401 (theirs)
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        assert last.content == REFUNDED
        parts = [TextPart(DONE)]
    else:
        parts = [TextPart(REPLY), ToolCallPart("refund", _ARGUMENTS, tool_call_id=_CALL)]
    return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=50, output_tokens=20))


class PydanticAi:
    """An agent, and rows for its messages."""

    version = importlib.metadata.version("pydantic-ai-slim")

    def __init__(self, kept: Shelf) -> None:
        self.database = kept.database
        self.kept = kept
        self.refunds = 0
        self.agent = Agent(FunctionModel(_model), output_type=[str, DeferredToolRequests])

        @self.agent.tool_plain(requires_approval=True)  # type: ignore[untyped-decorator]
        async def refund(order: str, amount: float) -> str:
            """Pay the customer back."""
            self.refunds += 1
            return f"{amount} paid back for {order}"

    async def cycle(self, number: int) -> None:
        """Run to the tool, keep the messages, and go on from them to the end."""
        thread, before = f"thread-{number}", self.refunds
        paused = await self.agent.run(REQUEST)
        [asked] = paused.output.approvals
        assert {"tool": asked.tool_name, **asked.args} == QUESTION
        await self.kept.keep(thread, paused.all_messages_json())

        history = ModelMessagesTypeAdapter.validate_json(self.kept.read(thread))
        results = DeferredToolResults(approvals={asked.tool_call_id: ANSWER["approved"]})
        done = await self.agent.run(message_history=history, deferred_tool_results=results)
        assert done.output == DONE
        assert self.refunds > before
        await self.kept.keep(thread, done.all_messages_json())


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[PydanticAi]:  # noqa: ARG001 (one way only)
    """Make an agent, and a shelf on a new file."""
    with shelf(folder / "pydantic_ai.db") as kept:
        yield PydanticAi(kept)


if __name__ == "__main__":
    main(opened)
