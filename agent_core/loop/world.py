"""The outside world as parameters: the clock, chance, ids, the kill switch, and who watches.

A test passes its own; nothing is ever patched.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent_core.loop.ids import Ids
from agent_core.thread.events import Event, Millis
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState


def _now() -> Millis:
    return Millis(time.time_ns() // 1_000_000)


def fresh_question_id(world: World, state: ThreadState) -> QuestionId:
    """Draw an id that the thread has not used: a caller may have chosen that very one."""
    while True:
        key = QuestionId(world.new_id("q"))
        if key not in state.questions:
            return key


def _not_halted() -> str:
    return ""


def unwatched(_what: object) -> None:
    """Watch nothing."""


def anybody(_state: ThreadState, _audience: Sequence[str]) -> None:
    """Accept every name: without a directory nobody knows who is there."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What the loop needs and can't decide."""

    now: Callable[[], Millis] = _now
    new_id: Callable[[str], str] = Ids().new
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    halted: Callable[[], str] = _not_halted
    """The kill switch: why no model or tool may be called now, or nothing."""
    on_text: Callable[[str], None] = unwatched
    """Gets the model's words as they stream in."""
    on_events: Callable[[Sequence[Event]], None] = unwatched
    """Gets what was appended, after it was."""
    check_audience: Callable[[ThreadState, Sequence[str]], None] = anybody
    """Raises ValueError, in words for whoever asks, if a question names somebody unknown."""
