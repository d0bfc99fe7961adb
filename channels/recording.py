"""A gatehouse for tests and benchmarks: it writes down what a channel brings, and plays its part.

`RecordingIntake` answers by script, then takes everything; the second of a key is a copy. The desk
shows the questions that it is given; the memory keeps things in a dict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from agent_core.json_values import JsonObject
from channels.inbound import Inbound
from channels.intake import Gatehouse, Received
from channels.outgoing import QuestionCard
from channels.people import Actor


class RecordingIntake:
    """Follows its script, one entry for each thing that comes, and then takes all."""

    def __init__(self, *script: Exception | Received) -> None:
        self.script = list(script)
        self.tried: list[Inbound] = []
        """Whatever came, also what it raised on."""
        self.taken: list[Inbound] = []
        """Once each."""
        self.hold: Callable[[], Awaitable[object]] | None = None
        """Awaited before anything is taken: to see what happens meanwhile."""
        self._keys: set[str] = set()
        self._came = asyncio.Condition()

    async def receive(self, inbound: Inbound) -> Received:
        """Write it down, and do as the script says."""
        self.tried.append(inbound)
        async with self._came:
            self._came.notify_all()
        if self.hold is not None:
            await self.hold()
        done = self.script.pop(0) if self.script else self._take(inbound)
        if isinstance(done, Exception):
            raise done
        return done

    async def until(self, count: int) -> list[Inbound]:
        """Wait until so many things have been tried, and give them."""
        async with self._came:
            await self._came.wait_for(lambda: len(self.tried) >= count)
        return self.tried

    def _take(self, inbound: Inbound) -> Received:
        if inbound.key in self._keys:
            return Received(effect="copy", thread="th_1")
        self._keys.add(inbound.key)
        self.taken.append(inbound)
        return Received(effect="taken", thread="th_1")


@dataclass(slots=True)
class RecordingDesk:
    """Shows the questions that it was given."""

    cards: dict[str, QuestionCard] = field(default_factory=dict)
    asked_for: list[Actor] = field(default_factory=list)
    """Who looked at what waits for them."""
    forbidden: set[str] = field(default_factory=set)
    """Ids of those who may answer nothing."""
    views: dict[str, JsonObject] = field(default_factory=dict)
    """Threads and questions as the API shows them, by their ids."""

    async def question(self, question: str) -> QuestionCard | None:
        """Give a question as it is now."""
        return self.cards.get(question)

    async def may_answer(self, question: str, actor: Actor, place: str) -> bool:  # noqa: ARG002 (all the same here)
        """Let everybody but the forbidden."""
        return actor.id not in self.forbidden

    async def waiting_for(self, actor: Actor) -> Sequence[QuestionCard]:
        """Give every open question: who may answer is not played here."""
        self.asked_for.append(actor)
        return [card for card in self.cards.values() if card.status == "open"]

    async def thread_view(self, thread: str) -> JsonObject | None:
        """Give a thread as it was given."""
        return self.views.get(thread)

    async def question_view(self, question: str) -> JsonObject | None:
        """Give a question as it was given."""
        return self.views.get(question)


class DictMemory:
    """Keeps things as long as the process lives, and ignores how long was asked for."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def recall(self, key: str) -> bytes | None:
        """Give what was kept."""
        return self.kept.get(key)

    async def keep(self, key: str, value: bytes | None, *, seconds: float | None = None) -> None:  # noqa: ARG002 (it has no clock)
        """Keep it; None forgets."""
        if value is None:
            self.kept.pop(key, None)
        else:
            self.kept[key] = value

    async def take(self, key: str) -> bytes | None:
        """Give it once."""
        return self.kept.pop(key, None)

    async def keys(self, prefix: str = "") -> list[str]:
        """Name what is kept."""
        return sorted(key for key in self.kept if key.startswith(prefix))


@dataclass(frozen=True, slots=True)
class Recording:
    """The three together, and the house that a channel is started with."""

    intake: RecordingIntake = field(default_factory=RecordingIntake)
    desk: RecordingDesk = field(default_factory=RecordingDesk)
    memory: DictMemory = field(default_factory=DictMemory)

    def house(self) -> Gatehouse:
        """Give what a channel is handed when it starts."""
        return Gatehouse(intake=self.intake, desk=self.desk, memory=self.memory)
