"""LangGraph: `interrupt()` in a node, an `InMemorySaver`, `Command(resume=…)`.

Its saver is the save and the load: it writes msgpack at the pause and reads it on resume. Two
ways, because they are far apart. `dicts` is the fastest that its documentation offers: plain
dicts, `operator.add` as the reducer, and `durability="exit"`, which writes a checkpoint only
when the run stops. `messages` is what its chat pages show, LangChain's message objects joined
by `add_messages`, also with `durability="exit"`. (`DeltaChannel` was tried: a saved pause is
then tiny, but a resume replays the log, at 5 cycles a second with 10,000 messages.)

The thread gets its earlier messages at once. Had it grown by single turns, the saver would hold
a copy of the conversation for each: gigabytes. That favours LangGraph, also in bytes: we count
the newest checkpoint only.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import operator
from typing import Annotated, Any, TypedDict

from langchain_core.messages import convert_to_openai_messages
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from bench.core.workload import ANSWER, ORDER, REPLY, check_messages, earlier_messages, main

_PAUSED = "paused"


class _Dicts(TypedDict):
    messages: Annotated[list[Any], operator.add]


class _Messages(TypedDict):
    messages: Annotated[list[Any], add_messages]


def _content(message: Any) -> object:  # noqa: ANN401  (theirs is one of several classes)
    return message["content"] if isinstance(message, dict) else message.content


def _approve(_state: object) -> dict[str, Any]:
    answer = interrupt(ORDER)
    assert answer == ANSWER
    return {"messages": [{"role": "user", "content": "approved"}]}


def _reply(state: dict[str, Any]) -> dict[str, Any]:
    """Stand in for the model, which reads the whole conversation."""
    assert _content(state["messages"][-1]) == "approved"
    return {"messages": [{"role": "assistant", "content": REPLY}]}


class _LangGraph:
    version = importlib.metadata.version("langgraph")

    def __init__(self, earlier: int, way: str) -> None:
        self.messages = earlier_messages(earlier)
        self.saver = InMemorySaver()
        graph = StateGraph(_Messages if way == "messages" else _Dicts)
        graph.add_node("approve", _approve)
        graph.add_node("reply", _reply)
        graph.add_edge(START, "approve")
        graph.add_edge("approve", "reply")
        graph.add_edge("reply", "approve")
        self.graph = graph.compile(checkpointer=self.saver)
        self.names = (f"copy-{number}" for number in itertools.count())
        self.last = ""

    async def start(self) -> None:
        """Run the graph up to its first pause."""
        await self._invoke({"messages": list(self.messages)}, _PAUSED)

    async def _invoke(self, what: object, thread: str) -> dict[str, Any]:
        result: dict[str, Any] = await self.graph.ainvoke(what, _config(thread), durability="exit")
        return result

    def prepare(self) -> str:
        """Copy the paused thread's bytes under another name, and drop the last copy."""
        saver, thread = self.saver, next(self.names)
        saver.delete_thread(self.last)
        self.last = thread
        for namespace, checkpoints in saver.storage[_PAUSED].items():
            saver.storage[thread][namespace].update(checkpoints)
        for key in [key for key in saver.blobs if key[0] == _PAUSED]:
            saver.blobs[(thread, *key[1:])] = saver.blobs[key]
        for key in [key for key in saver.writes if key[0] == _PAUSED]:
            saver.writes[(thread, *key[1:])] = dict(saver.writes[key])
        return thread

    async def cycle(self, state: str) -> tuple[str, dict[str, Any]]:
        return state, await self._invoke(Command(resume=ANSWER), state)

    def check(self, done: tuple[str, dict[str, Any]]) -> int:
        """Read the thread back: the messages, the answer's turn, and one open pause."""
        thread, result = done
        assert len(result["__interrupt__"]) == 1
        found = self.graph.get_state(_config(thread)).values["messages"]
        if found and not isinstance(found[0], dict):
            found = convert_to_openai_messages(found)
        check_messages(self.messages, found, ["approved", REPLY])
        return self._newest_bytes(thread)

    def _newest_bytes(self, thread: str) -> int:
        newest = self.saver.get_tuple(_config(thread))
        assert newest is not None
        key = newest.config["configurable"]["checkpoint_id"]
        checkpoint, metadata, _ = self.saver.storage[thread][""][key]
        versions = newest.checkpoint["channel_versions"].items()
        blobs = [self.saver.blobs.get((thread, "", *channel), ("", b"")) for channel in versions]
        writes = [write[2] for write in self.saver.writes[(thread, "", key)].values()]
        return sum(len(data) for _, data in (checkpoint, metadata, *blobs, *writes))


def _config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


async def build(earlier: int, way: str) -> _LangGraph:
    """Make the graph and pause it."""
    contender = _LangGraph(earlier, way)
    await contender.start()
    return contender


if __name__ == "__main__":
    main(build)
