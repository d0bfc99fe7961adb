"""LangGraph: a thread gets its earlier messages in one write, then takes further steps.

Had it grown by single turns, its saver would hold a copy of the conversation for each: gigabytes.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from bench.gateway.grown import text_of
from bench.machines.contender_langgraph import opened
from bench.machines.stride import strides

_THREAD = "thread-grown"


def _message(role: str, number: int) -> dict[str, Any]:
    return {"role": role, "content": text_of(number)}


async def main(url: str, earlier: int) -> None:
    """Make it, and measure."""
    async with opened(url, "async") as theirs:
        roles = ("user", "assistant")
        messages = [_message(roles[number % 2], number) for number in range(earlier)]
        config = {"configurable": {"thread_id": _THREAD}}
        await theirs.graph.aupdate_state(config, {"messages": messages}, "model")

        async def step(number: int) -> None:
            done = await theirs.invoke({"messages": [_message("user", number)]}, _THREAD)
            assert len(done["messages"]) > earlier

        await strides(step)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
