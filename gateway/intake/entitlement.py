"""Entitlement: may somebody answer this question, and if not, how to tell them. Pure.

Asked on every way in: words, buttons, links, callbacks and events come here.
"""

from __future__ import annotations

from agent_core.errors import Refused
from agent_core.thread.questions import Question
from agent_core.thread.state import QuestionState, ThreadState
from channels.inbound import Inbound, Message
from gateway.intake.standing import answers_for_requester
from gateway.people.directory import Directory
from gateway.people.routing import audience


class NotYours(Refused):
    """Somebody answered who is not asked; said to them, and noted in the log."""


class Stranger(Refused):
    """Somebody wrote into a thread that they have no part in; said to them, nothing is kept."""


class Entitlement:
    """Knows who may, by the people that the operator has listed."""

    def __init__(self, people: Directory) -> None:
        self._people = people

    def may(self, inbound: Inbound, state: ThreadState, current: QuestionState) -> bool:
        """Tell whether it counts as an answer to this question."""
        if _is_awaited(inbound, current.question):
            return True
        if answers_for_requester(inbound, state, current, self._people):
            return True
        if _lacks_proof(inbound, current.question):
            return False
        return self._is_asked(inbound, state, current)

    def why_not(self, inbound: Inbound, state: ThreadState, current: QuestionState) -> str:
        """Tell somebody politely why theirs is no answer."""
        if _lacks_proof(inbound, current.question) and self._is_asked(inbound, state, current):
            return (
                "An approval needs proof that it is you, and your message came without it, so it "
                "decided nothing. Use the button or the link that came with the question."
            )
        names = ", ".join(self._people.name(one) for one in audience(state, current)) or "nobody"
        return f"This question is for {names}: you may not answer it. Nothing has changed."

    def refuse_strangers(self, said: Message, state: ThreadState) -> None:
        """Let nobody talk in a thread only because they got hold of its address."""
        if not (said.thread or said.is_private):
            return
        known = said.actor.is_authenticated and self._people.person(said.actor) is not None
        asked = any(self.may(said, state, one) for one in state.waiting_questions())
        if not (known or asked or self._people.may_answer(said.actor, state.participants)):
            raise Stranger("You have no part in this conversation, so nothing was passed on.")

    def _is_asked(self, inbound: Inbound, state: ThreadState, current: QuestionState) -> bool:
        return self._people.may_answer(inbound.actor, audience(state, current), inbound.place)


def _is_awaited(inbound: Inbound, question: Question) -> bool:
    """Tell whether this is the event that a question waits for: it has no other audience."""
    awaited = f"event:{question.awaited}"
    return question.kind == "event" and inbound.place == inbound.actor.id == awaited


def _lacks_proof(inbound: Inbound, question: Question) -> bool:
    return question.kind == "approval" and not inbound.actor.is_authenticated
