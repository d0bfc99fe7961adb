"""OpenAI Agents SDK: a tool that needs approval interrupts the run; its RunState is the state.

What its page on human-in-the-loop shows: `needs_approval=True`, `result.to_state()`, the state as
JSON, `RunState.from_json`, `approve`, and a second run from it. It has no store for these, so the
application keeps them: a row of JSON when the run pauses, and one when it is done (the input list,
which is the shortest that a later run can go on from). Tracing is off.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents import (  # type: ignore[import-not-found]  # it lives in an environment of its own
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    RunState,
    Usage,
    function_tool,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from bench.gateway.shelf import Shelf, shelf
from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST, main

_ARGUMENTS = '{"order": "A-123", "amount": 49.9}'
_CONFIG = RunConfig(tracing_disabled=True)


def _said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(
        id="message-1", content=[content], role="assistant", status="completed", type="message"
    )


class _Scripted(Model):  # type: ignore[misc]  # theirs is not here when types are checked
    """A model that asks for the refund, and ends when it has it."""

    async def get_response(self, *, input: Any, **_more: Any) -> Any:  # noqa: A002, ANN401 (theirs)
        """Answer by what was said last."""
        last = input[-1] if isinstance(input, list) else {}
        if last.get("type") == "function_call_output":
            assert last["output"] == REFUNDED
            output: list[Any] = [_said(DONE)]
        else:
            call = ResponseFunctionToolCall(
                arguments=_ARGUMENTS, call_id="call-1", name="refund", type="function_call"
            )
            output = [_said(REPLY), call]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_args: Any, **_more: Any) -> Any:  # noqa: ANN401 (theirs)
        """Nobody streams here."""
        raise NotImplementedError


class OpenAiAgents:
    """An agent, and rows for its states."""

    version = importlib.metadata.version("openai-agents")

    def __init__(self, kept: Shelf) -> None:
        self.database = kept.database
        self.kept = kept
        self.refunds = 0

        async def refund(order: str, amount: float) -> str:
            """Pay the customer back."""
            self.refunds += 1
            return f"{amount} paid back for {order}"

        tool = function_tool(refund, needs_approval=True)
        self.agent = Agent(name="desk", model=_Scripted(), tools=[tool])

    async def cycle(self, number: int) -> None:
        """Run to the tool, keep the state, and go on from it to the end."""
        thread, before = f"thread-{number}", self.refunds
        paused = await Runner.run(self.agent, REQUEST, run_config=_CONFIG)
        [asked] = paused.interruptions
        assert {"tool": asked.name, **json.loads(asked.arguments)} == QUESTION
        await self.kept.keep(thread, json.dumps(paused.to_state().to_json()).encode())

        state = await RunState.from_json(self.agent, json.loads(self.kept.read(thread)))
        [question] = state.get_interruptions()
        assert ANSWER["approved"]
        state.approve(question)
        done = await Runner.run(self.agent, state, run_config=_CONFIG)
        assert done.final_output == DONE
        assert self.refunds > before
        await self.kept.keep(thread, json.dumps(done.to_input_list()).encode())


@asynccontextmanager
async def opened(folder: Path, way: str) -> AsyncIterator[OpenAiAgents]:  # noqa: ARG001 (one way only)
    """Make an agent, and a shelf on a new file."""
    with shelf(folder / "openai_agents.db") as kept:
        yield OpenAiAgents(kept)


if __name__ == "__main__":
    main(opened)
