"""What the tests of the library share: an agent on a stage of its own, and looks at what it did.

The stage is put together from the fakes that ship; nothing is patched, and no time passes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from agent_core import (
    Agent,
    HandDrivenWorld,
    ModelReply,
    ModelRequest,
    Outcome,
    Paused,
    ScriptedModel,
    Tool,
    call,
    calls,
    says,
)
from agent_core.models.scripted import Script
from agent_core.thread.events import Event

_Kind = TypeVar("_Kind")

APPROVED = {"approved": True}
DENIED = {"approved": False}


class Stage:
    """An agent with a scripted model, in a world driven by hand."""

    def __init__(
        self,
        script: Script,
        *tools: Tool | Callable[..., Any],
        before_reply: Callable[[ModelRequest], Awaitable[None]] | None = None,
        **options: Any,  # noqa: ANN401 (of Agent)
    ) -> None:
        self.world = HandDrivenWorld()
        self.script = script
        self.options = options
        self.model = ScriptedModel(script, before_reply=before_reply)
        self.agent = Agent(
            "agent", tools=tools, model=self.model, world=self.world.world, **options
        )

    def deploy(
        self,
        *tools: Tool | Callable[..., Any],
        **options: Any,  # noqa: ANN401 (of Agent)
    ) -> Agent:
        """Make a fresh agent of the same name in the same world, as after a deploy."""
        return Agent(
            "agent",
            tools=tools,
            model=self.model,
            world=self.world.world,
            **{**self.options, **options},
        )

    @property
    def last_results(self) -> list[str]:
        """What the model was last told about the calls of its last turn, in order."""
        return results_in(self.model.requests[-1])


def calling_each(
    *tools: Tool,
    **options: Any,  # noqa: ANN401 (of Agent)
) -> Stage:
    """Set up an agent that calls each of these tools once, all in one turn, without arguments."""
    return Stage([calls(*(call(one.name) for one in tools)), says("done")], *tools, **options)


class Gate:
    """A place to stop at: a test waits until somebody has arrived, and lets them pass."""

    def __init__(self) -> None:
        self._arrived = asyncio.Event()
        self._opened = asyncio.Event()

    async def stop_here(self, *_request: object) -> None:
        """Arrive, and wait until the test opens."""
        self._arrived.set()
        await self._opened.wait()

    async def reached(self) -> None:
        """Wait until somebody has arrived."""
        await self._arrived.wait()

    def open(self) -> None:
        """Let pass whoever comes."""
        self._opened.set()


def echo(request: ModelRequest) -> ModelReply:
    """Say what was said last."""
    return says(f"you said {request.messages[-1]['content']}")


def expect(outcome: Outcome, kind: type[_Kind]) -> _Kind:
    """Give the outcome as what it must be."""
    assert isinstance(outcome, kind), outcome
    return outcome


def question_of(outcome: Outcome) -> str:
    """Give the id of the one open question."""
    (question,) = expect(outcome, Paused).questions
    return question.id


def log_of(source: Outcome | str) -> list[dict[str, Any]]:
    """Read the events of an outcome, or of a checkpoint, as plain JSON."""
    text = source if isinstance(source, str) else source.checkpoint
    events: list[dict[str, Any]] = json.loads(text)["events"]
    return events


def types_in(source: Outcome | str) -> list[str]:
    """Name the events of a log, in order."""
    return [event["type"] for event in log_of(source)]


def names(events: Sequence[Event]) -> list[str]:
    """Name events, in order."""
    return [type(event).__name__ for event in events]


def upto(source: Outcome | str, length: int) -> str:
    """Cut a checkpoint after so many events: what a crash there would have left."""
    return json.dumps({"parley": 1, "events": log_of(source)[:length]})


def upto_last(source: Outcome | str, kind: str) -> str:
    """Cut a checkpoint after the last event of a type."""
    types = types_in(source)
    return upto(source, len(types) - types[::-1].index(kind))


def results_in(request: ModelRequest) -> list[str]:
    """Give the results of the last turn's calls; each must have exactly one, and be paired."""
    results: list[str] = []
    waiting: list[str] = []
    for message in request.messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0), "a result without its call"
            results.append(message["content"])
            continue
        assert not waiting, f"calls without a result: {waiting}"
        if message["role"] == "assistant":
            results = []
            waiting = [one["id"] for one in message.get("tool_calls", ())]
    assert not waiting, f"calls without a result: {waiting}"
    return results


def said_to(request: ModelRequest) -> list[tuple[str, str]]:
    """Give the roles and texts that the model saw."""
    return [(message["role"], message["content"]) for message in request.messages]
