"""LangGraph: a thread gets its earlier messages in one write, then takes further steps.

Had it grown by single turns, its saver would hold a copy of the conversation for each: gigabytes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from bench.gateway.contender_langgraph import OnFile, opened
from bench.gateway.grown import RELOADS, STEPS, Grown, say, text_of, written_bytes
from bench.gateway.stopwatch import stored_bytes


async def main(folder: Path, way: str, sizes: list[int]) -> None:
    """Make a thread for each size, and measure it."""
    async with opened(folder, way) as theirs:
        for size in sizes:
            roles = ("user", "assistant")
            earlier = [_message(roles[number % 2], number) for number in range(size)]
            thread = f"thread-{size}"
            await theirs.graph.aupdate_state(_config(thread), {"messages": earlier}, "model")
            say(await _measure(theirs, thread, size))


def _message(role: str, number: int) -> dict[str, str]:
    return {"role": role, "content": text_of(number)}


def _config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


async def _measure(theirs: OnFile, thread: str, size: int) -> Grown:
    stored, written = stored_bytes(theirs.database), written_bytes()
    cpu, times = time.process_time(), []
    steps = STEPS if size < STEPS * 50 else STEPS // 5
    for number in range(steps):
        began = time.perf_counter()
        message = _message("user", size + 2 * number)
        done = await theirs.invoke({"messages": [message]}, thread)
        times.append(time.perf_counter() - began)
        assert len(done["messages"]) == size + 2 * number + 2
    cpu = time.process_time() - cpu
    stored, written = stored_bytes(theirs.database) - stored, written_bytes() - written
    reloads = []
    for _ in range(RELOADS):
        began = time.perf_counter()
        state = await theirs.graph.aget_state(_config(thread))
        reloads.append(time.perf_counter() - began)
        assert len(state.values["messages"]) > size
    return Grown.of(size, times, cpu_seconds=cpu, stored=stored, written=written, reloads=reloads)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], [int(size) for size in sys.argv[3:]]))
