"""Ours: one thread that really grows, message by message, to the sizes asked for.

At each size: some further steps (a message, the model's reply, durable), and a full reload.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path

from agent_core.thread.events import ThreadId
from agent_core.thread.fold import fold
from bench.gateway.contender_parley import OnFile, Parley, opened
from bench.gateway.grown import RELOADS, STEPS, Grown, say, text_of, written_bytes
from bench.gateway.stopwatch import stored_bytes
from gateway.control.views import Launch

_PATIENCE = 60.0


async def main(folder: Path, sizes: list[int]) -> None:
    """Grow, and stop at each size to measure."""
    async with opened(folder) as ours:
        launched, _ = await ours.gateway.launch(Launch(agent="clerk", text=text_of(0)), by="ann")
        await ours.gateway.wait(launched.id, seconds=_PATIENCE)
        messages = 2
        for size in sizes:
            while messages < size:
                await step(ours, launched.id, messages)
                messages += 2
            say(await _measure(ours, launched.id, size, messages))
            messages += 2 * STEPS


async def step(ours: Parley, thread: str, number: int) -> None:
    """Say something, and see it answered."""
    await ours.gateway.say(thread, text_of(number), by="ann")
    done = await ours.gateway.wait(thread, seconds=_PATIENCE)
    assert done.status == "finished"


async def _measure(ours: OnFile, thread: str, size: int, messages: int) -> Grown:
    stored, written = stored_bytes(ours.database), written_bytes()
    cpu, times = time.process_time(), []
    for number in range(STEPS):
        began = time.perf_counter()
        await step(ours, thread, messages + 2 * number)
        times.append(time.perf_counter() - began)
    cpu = time.process_time() - cpu
    stored, written = stored_bytes(ours.database) - stored, written_bytes() - written
    reloads = []
    for _ in range(RELOADS):
        began = time.perf_counter()
        state = fold(await ours.gateway.log(ThreadId(thread)))
        reloads.append(time.perf_counter() - began)
        assert state.lifecycle == "finished"
    return Grown.of(size, times, cpu_seconds=cpu, stored=stored, written=written, reloads=reloads)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run(main(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]]))
