"""LangGraph's graph: `interrupt()` before the tool, `Command(resume=…)`; whichever saver keeps it.

`async` is the default durability; `exit` writes a checkpoint only when a run stops, so a crash
loses what it did until then. Each with plain dicts and `operator.add`, the fastest that its
documentation offers, or (`+messages`) with LangChain's message objects and `add_messages`, as its
chat pages show.
"""

from __future__ import annotations

import importlib.metadata
import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from bench.gateway.stopwatch import ANSWER, DONE, QUESTION, REFUNDED, REPLY, REQUEST

_ARGUMENTS = {"order": "A-123", "amount": 49.9}


class _Dicts(TypedDict):
    messages: Annotated[list[Any], operator.add]


class _Messages(TypedDict):
    messages: Annotated[list[Any], add_messages]


def _content(message: Any) -> object:  # noqa: ANN401 (theirs is one of several classes)
    return message["content"] if isinstance(message, dict) else message.content


def _calls(message: Any) -> object:  # noqa: ANN401 (theirs is one of several classes)
    if isinstance(message, dict):
        return message.get("tool_calls")
    return getattr(message, "tool_calls", None)


async def _model(state: dict[str, Any]) -> dict[str, Any]:
    last = _content(state["messages"][-1])
    if last == REQUEST:
        call = {"name": "refund", "args": _ARGUMENTS, "id": "call-1", "type": "tool_call"}
        return {"messages": [{"role": "assistant", "content": REPLY, "tool_calls": [call]}]}
    text = DONE if last == REFUNDED else REPLY
    return {"messages": [{"role": "assistant", "content": text}]}


async def _refund(_state: object) -> dict[str, Any]:
    assert interrupt(QUESTION) == ANSWER
    return {"messages": [{"role": "tool", "content": REFUNDED, "tool_call_id": "call-1"}]}


def _next(state: dict[str, Any]) -> str:
    return "refund" if _calls(state["messages"][-1]) else END


class LangGraph:
    """A compiled graph over a saver."""

    version = importlib.metadata.version("langgraph")

    def __init__(self, saver: Any, way: str) -> None:  # noqa: ANN401 (theirs has many)
        durability, _, messages = way.partition("+")
        graph = StateGraph(_Messages if messages else _Dicts)
        graph.add_node("model", _model)
        graph.add_node("refund", _refund)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", _next, ["refund", END])
        graph.add_edge("refund", "model")
        self.graph = graph.compile(checkpointer=saver)
        self.durability = durability

    async def invoke(self, what: object, thread: str) -> dict[str, Any]:
        """Run until it stops."""
        config = {"configurable": {"thread_id": thread}}
        done: dict[str, Any] = await self.graph.ainvoke(what, config, durability=self.durability)
        return done

    async def cycle(self, number: int) -> None:
        """Run to the interrupt, and from it to the end."""
        thread = f"thread-{number}"
        message = {"role": "user", "content": REQUEST}
        paused = await self.invoke({"messages": [message]}, thread)
        [question] = paused["__interrupt__"]
        assert question.value == QUESTION
        done = await self.invoke(Command(resume=ANSWER), thread)
        assert _content(done["messages"][-1]) == DONE
