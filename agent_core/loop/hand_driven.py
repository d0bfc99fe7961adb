"""A world driven by hand: for tests of agents, ours and our users'. Ships in the source."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from agent_core.loop.world import World
from agent_core.thread.events import Event, Millis

_START = Millis(1_767_225_600_000)  # 2026-01-01 00:00 UTC


class HandDrivenWorld:
    """Time passes when told; ids count up; sleeping moves the clock and takes no time."""

    def __init__(self, start: Millis = _START) -> None:
        self.moment = start
        self.slept: list[float] = []
        self.halt_reason = ""
        self.events: list[Event] = []
        self.words: list[str] = []
        self._ids: Counter[str] = Counter()
        self.world = World(
            now=lambda: self.moment,
            new_id=self._new_id,
            sleep=self._sleep,
            random=lambda: 0.0,
            halted=lambda: self.halt_reason,
            on_text=self.words.append,
            on_events=self._note_events,
        )

    def pass_time(self, seconds: float) -> None:
        """Move the clock."""
        self.moment = Millis(self.moment + round(seconds * 1000))

    def _new_id(self, prefix: str) -> str:
        self._ids[prefix] += 1
        return f"{prefix}_{self._ids[prefix]}"

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.pass_time(seconds)
        await asyncio.sleep(0)

    def _note_events(self, events: Sequence[Event]) -> None:
        self.events.extend(events)
