"""Agently's TriggerFlow: `pause_for`, a saved execution, `continue_with`.

`pause_for` saves the execution by itself, into whatever snapshot store there is; ours is in
memory, so nothing is saved twice and no disk is touched. Two ways, because they are far apart.
`state` is the fastest that Agently's documentation offers: the conversation in the execution's
state, set without emitting a signal. In `value` it travels through the flow as its value, as
short examples do, and each signal in the snapshot then holds a copy.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
from typing import Any

from agently import TriggerFlow, TriggerFlowRuntimeData

from bench.core.workload import (
    ANSWER,
    ORDER,
    REPLY,
    check_messages,
    earlier_messages,
    main,
)

logging.getLogger("Agently").setLevel(logging.ERROR)  # it warns of every pause

Messages = list[dict[str, str]]


class _MemoryStore:
    """The least that Agently accepts as a snapshot store; holds text, as a real one would."""

    def __init__(self) -> None:
        self.text = ""

    async def put_snapshot(
        self, run_id: str, state: dict[str, Any], *, step_id: str | None = None
    ) -> dict[str, str]:
        self.text = json.dumps(state, separators=(",", ":"))
        return {"run_id": run_id, "step_id": step_id or ""}


def _reply(messages: Messages) -> dict[str, str]:
    """Stand in for the model, which reads the whole conversation."""
    assert messages[-1]["content"] == "approved"
    return {"role": "assistant", "content": REPLY}


async def _ask(data: TriggerFlowRuntimeData) -> object:
    return await data.async_pause_for(type="approval", payload=ORDER, resume_to="next")


async def _begin(data: TriggerFlowRuntimeData) -> None:
    await data.async_set_state("messages", data.value, emit=False)
    await data.async_emit("ASK", None)


async def _turn(data: TriggerFlowRuntimeData) -> None:
    await data.async_set_state("messages", _next_messages(data), emit=False)
    await data.async_emit("ASK", None)


async def _begin_by_value(data: TriggerFlowRuntimeData) -> None:
    await data.async_emit("ASK", data.value)


async def _ask_by_value(data: TriggerFlowRuntimeData) -> object:
    # The answer takes the value's place on resume, so the conversation must be kept as well.
    await data.async_set_state("messages", data.value)
    return await _ask(data)


async def _turn_by_value(data: TriggerFlowRuntimeData) -> None:
    await data.async_emit("ASK", _next_messages(data))


def _next_messages(data: TriggerFlowRuntimeData) -> Messages:
    assert data.value == ANSWER
    messages: Messages = data.get_state("messages")
    messages.append({"role": "user", "content": "approved"})
    messages.append(_reply(messages))
    return messages


class _Agently:
    version = importlib.metadata.version("agently")

    def __init__(self, flow: TriggerFlow, earlier: int) -> None:
        self.flow = flow
        self.messages = earlier_messages(earlier)
        self.paused = ""

    async def start(self) -> None:
        """Run the flow up to its first pause."""
        execution, store = self._execution()
        await execution.async_start(list(self.messages))
        self.paused = store.text

    def _execution(self) -> tuple[Any, _MemoryStore]:
        store = _MemoryStore()
        execution = self.flow.create_execution(
            auto_close=False, record_store=False, runtime_resources={"snapshot_store": store}
        )
        return execution, store

    def prepare(self) -> str:
        return self.paused

    async def cycle(self, state: str) -> str:
        execution, store = self._execution()
        execution.load(json.loads(state))
        pause = next(iter(execution.get_pending_interrupts()))
        await execution.async_continue_with(pause, ANSWER)
        return store.text

    def check(self, done: str) -> int:
        """Look into the saved text: the messages, the answer's turn, and one open pause."""
        saved = json.loads(done)
        check_messages(self.messages, saved["runtime_data"]["messages"], ["approved", REPLY])
        waiting = [pause for pause in saved["interrupts"].values() if pause["status"] == "waiting"]
        assert len(waiting) == 1
        return len(done.encode())


def _flow(way: str) -> TriggerFlow:
    flow = TriggerFlow(name=f"bench-{way}")
    if way == "value":
        flow.to(_begin_by_value)
        flow.when("ASK").to(_ask_by_value).to(_turn_by_value)
    else:
        flow.to(_begin)
        flow.when("ASK").to(_ask).to(_turn)
    return flow


async def build(earlier: int, way: str) -> _Agently:
    """Make the flow and pause it."""
    contender = _Agently(_flow(way), earlier)
    await contender.start()
    return contender


if __name__ == "__main__":
    main(build)
