"""What every contender has to do, and how it is timed.

This file runs in the peers' environments as well as in ours, so it uses the standard library
only. A contender brings `prepare`, `cycle` and `check`; only `cycle` is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol, TypeAlias, TypedDict, TypeVar

ANSWER = {"approved": True}
REPLY = "I have looked at the order, and I would like to pay the customer back."
ORDER = {"order": "A-123", "amount": 49.9}
MESSAGE_CHARACTERS = 200

_PROSE = (
    "The customer wrote that the parcel came late, and asks whether we could send the money back "
    "or offer another day for the delivery, because she will be away until the end of the month. "
)


class Message(TypedDict):
    """A chat message as everybody writes it."""

    role: str
    content: str


StateT = TypeVar("StateT")
DoneT = TypeVar("DoneT")


class Contender(Protocol[StateT, DoneT]):
    """One system under measurement, holding a paused thread with its earlier messages."""

    version: str

    def prepare(self) -> StateT:
        """Give an untouched copy of the paused, saved state. Not timed."""
        ...

    async def cycle(self, state: StateT, /) -> DoneT:
        """Load, resume with the answer, take one model turn, pause again, save. Timed."""
        ...

    def check(self, done: DoneT, /) -> int:
        """Raise unless the run got the answer and kept its messages. Give the saved bytes."""
        ...


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How long to measure: `seconds` of cycles, yet some cycles at least, and a hard end."""

    seconds: float
    least_cycles: int = 3
    wall_seconds: float = 20.0

    def is_spent(self, *, cycles: int, seconds: float, wall_seconds: float) -> bool:
        """Tell whether to stop."""
        if wall_seconds >= self.wall_seconds:
            return cycles > 0
        return seconds >= self.seconds and cycles >= self.least_cycles


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What one contender did at one size: a line of JSON on standard output."""

    version: str
    earlier: int
    cycles: int
    seconds: float
    cpu_seconds: float
    checkpoint_bytes: int
    messages_bytes: int


def parse_measurement(line: str) -> Measurement:
    """Read a line that a contender wrote."""
    return Measurement(**json.loads(line))


def earlier_messages(count: int) -> list[Message]:
    """Write a conversation: English-like, 200 characters each, user and assistant in turn."""
    return [
        Message(role="assistant" if number % 2 else "user", content=_text(number))
        for number in range(count)
    ]


def _text(number: int) -> str:
    return f"Message {number}. {_PROSE}{_PROSE}"[:MESSAGE_CHARACTERS]


def messages_bytes(messages: Sequence[Message]) -> int:
    """Size the messages themselves, as the shortest JSON that anybody would write."""
    return len(json.dumps(messages, separators=(",", ":"), ensure_ascii=False).encode())


def check_messages(
    expected: Sequence[Message], found: Sequence[Message], then: Sequence[str]
) -> None:
    """Raise unless every earlier message is there, followed by exactly these texts."""
    count = len(expected)
    assert list(found[:count]) == list(expected), "earlier messages were lost"
    assert [message["content"] for message in found[count:]] == list(then)


async def measure(
    contender: Contender[StateT, DoneT], *, earlier: int, budget: Budget
) -> Measurement:
    """Repeat the cycle from the same paused state, after one that is not counted."""
    contender.check(await contender.cycle(contender.prepare()))
    gc.collect()
    cycles, seconds, cpu_seconds, saved_bytes = 0, 0.0, 0.0, 0
    began = time.perf_counter()
    while not budget.is_spent(
        cycles=cycles, seconds=seconds, wall_seconds=time.perf_counter() - began
    ):
        state = contender.prepare()
        wall, cpu = time.perf_counter(), time.process_time()
        done = await contender.cycle(state)
        seconds += time.perf_counter() - wall
        cpu_seconds += time.process_time() - cpu
        cycles += 1
        saved_bytes = contender.check(done)
    return Measurement(
        version=contender.version,
        earlier=earlier,
        cycles=cycles,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        checkpoint_bytes=saved_bytes,
        messages_bytes=messages_bytes(earlier_messages(earlier)),
    )


Build: TypeAlias = Callable[[int, str], Awaitable[Contender[StateT, DoneT]]]
"""Makes a contender: with so many earlier messages, in the way of that name."""


def main(build: Build[StateT, DoneT]) -> None:
    """Measure one contender at each size asked for, a line of JSON each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("earlier", type=int, nargs="+")
    parser.add_argument("--way", default="")
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    budget = Budget(seconds=asked.seconds)
    for earlier in asked.earlier:
        measured = asyncio.run(_build_and_measure(build, asked.way, earlier, budget))
        print(json.dumps(asdict(measured)), flush=True)


async def _build_and_measure(
    build: Build[StateT, DoneT], way: str, earlier: int, budget: Budget
) -> Measurement:
    return await measure(await build(earlier, way), earlier=earlier, budget=budget)
