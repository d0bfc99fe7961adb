"""A hall in which threads wait: the intake answers questions, the desk shows them, steps can fail.

One step is one thing that lasts: something kept, or an answer taken. `fail_at` breaks off there,
before it is done or right after; whoever was at work then sees a StoreError.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from agent_core.json_values import Json, JsonObject
from channels.event.channel import EventChannel
from channels.inbound import Decision, Inbound
from channels.intake import Gatehouse, Received, SealBroken
from channels.occurrences import Occurred, Occurrence
from channels.outgoing import Outgoing, QuestionCard
from channels.recording import DictMemory, RecordingDesk
from storage.errors import StoreError


@dataclass
class Steps:
    """Counts what lasts, and breaks off once."""

    fail_at: int = 0
    when: Literal["before", "after"] = "before"
    done: int = 0

    def check(self, moment: Literal["before", "after"]) -> None:
        """Break off where it was said."""
        self.done += moment == "before"
        if self.done == self.fail_at and moment == self.when:
            self.fail_at = 0
            raise StoreError("the store has gone away")


class StepMemory(DictMemory):
    """Keeps things, step by step."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps
        self.is_sealed_by_another: set[str] = set()

    async def recall(self, key: str) -> bytes | None:
        """Give it, if the secret key is still the same."""
        if key in self.is_sealed_by_another and key in self.kept:
            raise SealBroken(f"{key!r} can't be opened")
        return await super().recall(key)

    async def keep(self, key: str, value: bytes | None, *, seconds: float | None = None) -> None:
        """Keep it, in one step."""
        self._steps.check("before")
        await super().keep(key, value, seconds=seconds)
        self.is_sealed_by_another.discard(key)
        self._steps.check("after")


@dataclass
class Hall:
    """Everything that two processes share, and channels on it."""

    steps: Steps = field(default_factory=Steps)
    desk: RecordingDesk = field(default_factory=RecordingDesk)
    answers: dict[str, Json] = field(default_factory=dict)
    """What each question was answered with."""
    decisions: list[Decision] = field(default_factory=list)
    now: float = 1_763_272_900.0
    _inbox: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Make the memory that all share."""
        self.memory = StepMemory(self.steps)

    async def receive(self, inbound: Inbound) -> Received:
        """Answer as the gateway's intake does: the first wins, and each key counts once."""
        assert isinstance(inbound, Decision)
        card = self.desk.cards[inbound.question]
        if inbound.key in self._inbox:
            return Received(effect="copy", thread=card.thread)
        if card.status != "open":
            return Received(effect="refused", words="too late")
        self.steps.check("before")
        self._inbox.add(inbound.key)
        self.decisions.append(inbound)
        self.answers[card.id] = inbound.value
        self.desk.cards[card.id] = replace(card, status="answered", answer=inbound.value)
        self.steps.check("after")
        return Received(effect="taken", thread=card.thread)

    def _clock(self) -> float:
        self.now += 1
        return self.now

    async def process(self) -> EventChannel:
        """Start a channel, as a process of its own would."""
        channel = EventChannel(clock=self._clock)
        await channel.start(Gatehouse(intake=self, desk=self.desk, memory=self.memory))
        return channel

    def asks(self, question: str, key: str = "k", asked_at: int = 0) -> Outgoing:
        """Open a question that waits for a key, and give what tells the channel."""
        card = QuestionCard(
            id=question,
            thread=f"th_{question}",
            kind="event",
            prompt="Waiting",
            asked_at=asked_at or len(self.desk.cards) + 1,
        )
        self.desk.cards[question] = card
        return self.told(question, key)

    def told(self, question: str, key: str = "k") -> Outgoing:
        """Give what tells the channel of a question, as it is now."""
        card = self.desk.cards[question]
        kind = "question.asked" if card.status == "open" else "question.settled"
        return Outgoing(
            id=question,
            thread=card.thread,
            address=f"event:{key}",
            kind=kind,  # type: ignore[arg-type]
            question=card,
        )

    def ends(self, question: str, status: Literal["expired", "withdrawn"]) -> None:
        """End a question without an answer."""
        self.desk.cards[question] = replace(self.desk.cards[question], status=status)

    def left(self, kind: str) -> list[str]:
        """Name what is still kept of a kind."""
        return [name for name in self.memory.kept if name.startswith(kind)]


def happens(number: int = 1, key: str = "k", value: JsonObject | None = None) -> Occurrence:
    """Make a report: the same number is the same delivery."""
    own = {"number": number} if value is None else value
    return Occurrence(key=key, delivery=f"d{number}", value=own, how="webhook ci (github)")


def effects(*told: Occurred) -> list[str]:
    """Give what became of each."""
    return [one.effect for one in told]
