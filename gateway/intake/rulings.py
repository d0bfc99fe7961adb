"""Rulings: a button, a form or a link, which decides about exactly one question.

Who may not, and who is late, is told so, and the attempt stays in the log.
"""

from __future__ import annotations

from agent_core.errors import AlreadySettled, MayNotDecide
from agent_core.thread import commands
from agent_core.thread.events import Event, Millis
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import ThreadState
from agent_core.thread.voting import Decider, takes_words
from channels.inbound import Decision
from channels.intake import Received
from channels.people import Actor
from gateway.control.local import LocalGateway
from gateway.intake.entitlement import Entitlement, NotYours
from gateway.intake.standing import person_behind
from gateway.intake.taking import Taking
from gateway.intake.words import Reading
from gateway.people.directory import Directory
from gateway.work.lateness import refuse_late
from storage.store import Store


class Rulings:
    """Takes decisions of people."""

    def __init__(
        self, gateway: LocalGateway, store: Store, people: Directory, taking: Taking
    ) -> None:
        self._gateway = gateway
        self._store = store
        self._people = people
        self._taking = taking
        self._entitlement = Entitlement(people)

    async def rule(self, decided: Decision) -> Received:
        """Take a decision about the question that it names."""
        key = QuestionId(decided.question)
        row = await self._store.question(key)
        if row is None:
            return Received(effect="refused", words="This question is not here any more.")
        reading = Reading(decided.value, decided.comment)

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            current = state.questions.get(key)
            if current is not None and not self._entitlement.may(decided, state, current):
                raise NotYours(self._entitlement.why_not(decided, state, current))
            return self.answer(state, key, reading, decided.actor, now)

        try:
            return await self._taking.take(row.thread, decided, decide)
        except (AlreadySettled, MayNotDecide, NotYours) as exc:
            await self._taking.note(row.thread, key, str(exc), decided.actor)
            raise

    def takes_words(self, actor: Actor, state: ThreadState, question: Question) -> bool:
        """Tell whether somebody's words can be the answer, and not only a message."""
        who = person_behind(actor, state, self._people)
        decider = Decider(by=actor.id, person=who, canonical=self._people.canonical)
        return takes_words(state, question, decider)

    def answer(
        self, state: ThreadState, key: QuestionId, reading: Reading, actor: Actor, now: Millis
    ) -> list[Event]:
        """Answer a question in somebody's name, who may; raises AlreadySettled if it is late."""
        refuse_late(state, key, now)
        return commands.answer(
            state,
            {key: reading.value},
            at=now,
            check_arguments=self._gateway.checker(state.agent),
            by=actor.id,
            person=person_behind(actor, state, self._people),
            canonical=self._people.canonical,
            comment=reading.comment,
            how=actor.how,
        )
