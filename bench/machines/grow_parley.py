"""Ours: a thread that really grows, message by message, and then some further steps."""

from __future__ import annotations

import asyncio
import logging
import sys

from bench.gateway.grow_parley import step
from bench.machines.contender_parley import opened
from bench.machines.stride import strides
from gateway.control.views import Launch

_PATIENCE = 60.0


async def main(url: str, earlier: int) -> None:
    """Grow it, and measure."""
    async with opened(url) as ours:
        launched, _ = await ours.gateway.launch(Launch(agent="clerk", text="0"), by="ann")
        await ours.gateway.wait(launched.id, seconds=_PATIENCE)
        for number in range(2, earlier, 2):
            await step(ours, launched.id, number)
        await strides(lambda number: step(ours, launched.id, earlier + number))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
