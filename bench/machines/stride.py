"""How further steps are timed. Standard library only: it runs in the peers' environments, too."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from statistics import median

_STEPS = 40


async def strides(step: Callable[[int], Awaitable[None]]) -> None:
    """Take some, and write a line of JSON: the median of their times, the mean of their CPU."""
    times = []
    cpu = time.process_time()
    for number in range(_STEPS):
        began = time.perf_counter()
        await step(2 * number)
        times.append(time.perf_counter() - began)
    cpu = time.process_time() - cpu
    told = {"step_ms": 1000 * median(times), "cpu_ms": 1000 * cpu / _STEPS}
    print(json.dumps(told), flush=True)
