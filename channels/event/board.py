"""The board: who waits for which key, and what has happened already. Whoever sees both, matches.

A question is kept before one looks for occurrences, and an occurrence before one looks for
questions: so one of the two sees the other, in whatever process. Both may: then two hand over the
same occurrence, and the intake takes it once, because its key there is the delivery's, whichever
question it is given to. So nothing needs to be taken away first, and a crash between any two steps
leaves something that is tried again without harm.

First come, first served: the oldest occurrence goes to the oldest question, and the rest stays.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from channels.event import records
from channels.event.records import Ended, Report
from channels.inbound import Decision
from channels.intake import Gatehouse
from channels.occurrences import Occurred, Occurrence
from channels.outgoing import QuestionCard
from channels.people import Actor
from channels.recalling import recall_readable

_log = logging.getLogger("parley.event")

DAY = 24 * 3600
_MOST_OF_A_KEY = 100
"""How many occurrences of one key are kept: more than that is a mistake."""
_REPORTS_SECONDS = 90 * DAY
"""How long a copy is known as one, beyond the time that an occurrence is kept."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Somebody on the board."""

    name: str
    card: QuestionCard


class Board:
    """Matches those who wait with what happens."""

    def __init__(
        self, house: Gatehouse, *, keep_seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._house = house
        self._memory = house.memory
        self._keep_seconds = keep_seconds
        self._clock = clock

    # Those who wait

    async def wait(self, key: str, question: str, asked_at: int) -> str:
        """Put a question on the board, under the name that is given back."""
        name = records.waiting(key, asked_at, question)
        await self._memory.keep(name, question.encode())
        await self._match(records.digest(key))
        return name

    async def leave(self, key: str, name: str, ended: Ended) -> None:
        """Take a question off the board, however it ended."""
        await self._memory.keep(records.ended(key), records.write(ended), seconds=self._lasting())
        await self._memory.keep(name, None)

    # What happens

    async def occur(self, occurrence: Occurrence) -> Occurred:
        """Keep it, match, and tell what became of it."""
        kept = await self._recall(records.report(occurrence.delivery))
        seen = records.read_report(kept) if kept else await self._first_report(occurrence)
        if seen is None:
            words = f"{_MOST_OF_A_KEY} events of this key are kept, and nobody takes them"
            return Occurred(effect="full", words=words)
        if seen.digest != records.content(occurrence):
            return Occurred(effect="conflict", words="this delivery said something else before")
        if seen.thread:
            return _resumed(seen)
        body = records.write(occurrence)
        await self._memory.keep(seen.name, body, seconds=self._keep_seconds)
        await self._match(records.digest(occurrence.key))
        return await self._told(occurrence, seen)

    async def _first_report(self, occurrence: Occurrence) -> Report | None:
        """Note a delivery before anything is done with it; None if there are too many."""
        prefix = f"{records.CAME}{records.digest(occurrence.key)}:"
        if len(await self._memory.keys(prefix)) >= _MOST_OF_A_KEY:
            return None
        now = int(self._clock() * 1e6)
        name = records.came(occurrence.key, now, occurrence.delivery)
        seen = Report(digest=records.content(occurrence), name=name)
        await self._note(occurrence, seen)
        return seen

    async def _told(self, occurrence: Occurrence, seen: Report) -> Occurred:
        kept = await self._recall(records.report(occurrence.delivery))
        now = records.read_report(kept) if kept else seen
        if now.thread:  # somebody has it, perhaps by another copy that came at the same moment
            await self._memory.keep(seen.name, None)
            return _resumed(now)
        if await self._recall(seen.name) is None:  # who has it, a crash has kept from us
            return _resumed(now)
        last = await self._recall(records.ended(occurrence.key))
        if last is None:
            return Occurred(effect="kept", words="nobody waits for it yet: it is kept")
        ended = records.read_ended(last)
        words = (
            f"nobody waits for it any more: question {ended.question} was {ended.status}; "
            "it is kept for the next that waits for this key"
        )
        return Occurred(effect="late", question=ended.question, words=words)

    # Both together

    async def look(self) -> None:
        """Match all that is there: what a crash has left between two steps."""
        waiting = {records.key_of(name) for name in await self._memory.keys(records.WAITING)}
        came = {records.key_of(name) for name in await self._memory.keys(records.CAME)}
        for key in sorted(waiting & came):
            await self._match(key)

    async def _match(self, key: str) -> None:
        """Give each occurrence, the oldest first, to whoever has waited longest."""
        for name in await self._memory.keys(f"{records.CAME}{key}:"):
            kept = await self._recall(name)
            if kept is None:
                continue  # another process has handed it over, or nobody can read it
            if not await self._hand_over(name, records.read_occurrence(kept)):
                return

    async def _hand_over(self, name: str, occurrence: Occurrence) -> bool:
        """Answer the oldest question with it; False if nobody is left who can take it."""
        while waiting := await self._first_waiting(occurrence.key):
            received = await self._house.intake.receive(_decision(occurrence, waiting.card.id))
            if received.effect == "taken":
                await self._note_taken(name, occurrence, waiting)
            if received.effect in {"taken", "copy"}:
                # A copy had its effect before, perhaps on another question: this one waits on.
                await self._memory.keep(name, None)
                return True
            card = await self._house.desk.question(waiting.card.id)
            if card is not None and card.status == "open":
                ids = {"question_id": card.id, "thread_id": card.thread}
                _log.error("event was refused", extra={**ids, "error": received.words})
                return False
        return False

    async def _first_waiting(self, key: str) -> _Waiting | None:
        """Find the oldest question that is still open; those that are not, leave the board."""
        for name in await self._memory.keys(f"{records.WAITING}{records.digest(key)}:"):
            question = records.question_of(name)
            card = await self._house.desk.question(question)
            if card is not None and card.status == "open":
                return _Waiting(name, card)
            await self.leave(key, name, Ended(question, card.status if card else "withdrawn"))
        return None

    async def _note_taken(self, name: str, occurrence: Occurrence, waiting: _Waiting) -> None:
        card = waiting.card
        seen = Report(
            digest=records.content(occurrence), name=name, question=card.id, thread=card.thread
        )
        await self._note(occurrence, seen)
        await self.leave(occurrence.key, waiting.name, Ended(card.id, "answered"))

    async def _note(self, occurrence: Occurrence, seen: Report) -> None:
        name, body = records.report(occurrence.delivery), records.write(seen)
        await self._memory.keep(name, body, seconds=self._lasting())

    async def _recall(self, name: str) -> bytes | None:
        return await recall_readable(self._memory, name)

    def _lasting(self) -> float:
        return self._keep_seconds + _REPORTS_SECONDS


def _decision(occurrence: Occurrence, question: str) -> Decision:
    """Answer as the key's own actor: it may answer exactly what waits for this key."""
    address = f"event:{occurrence.key}"
    return Decision(
        key=occurrence.delivery,
        place=address,
        actor=Actor(id=address, how=occurrence.how),
        question=question,
        value=occurrence.value,
    )


def _resumed(seen: Report) -> Occurred:
    return Occurred(effect="resumed", thread=seen.thread, question=seen.question)
