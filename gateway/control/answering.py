"""Answering: questions answered, withdrawn, and approvals taken back. The API's side of it.

A key's holder is one person by the key's name: they count once where several must decide, and
can't approve where they began it themselves. Where that is the name of somebody listed, they may
decide what that person may; any other key is a program that the operator trusts to answer.
Channels come by `gateway.intake`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_core.agent.agent import Agent
from agent_core.errors import AlreadySettled, MayNotDecide, TooLate, WrongShape
from agent_core.json_values import JsonObject
from agent_core.loop.world import World, fresh_question_id
from agent_core.thread import commands
from agent_core.thread.answers import CheckArguments
from agent_core.thread.events import AnswerRefused, Event, Millis, ThreadId
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import ThreadState
from agent_core.thread.voting import Decider, takes_words
from agent_core.tools.signature import BadArguments
from channels.people import Actor
from gateway.control.deciding import Decide, Deciding
from gateway.control.service import NotFound
from gateway.control.showing import show_question
from gateway.control.views import QuestionView
from gateway.people.routing import Routing, audience
from gateway.shortcuts.hints import Hints
from gateway.shortcuts.nearby import Nearby
from gateway.work.lateness import overdue, refuse_late
from storage.store import Store

_REFUSALS = (AlreadySettled, MayNotDecide, TooLate)
"""What stays in the log: somebody tried, and was told why not."""


class Answering(Deciding):
    """What decides about questions."""

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, Agent],
        hints: Hints,
        *,
        world: World,
        nearby: Nearby,
        routing: Routing | None,
    ) -> None:
        super().__init__(store, hints, world, nearby, routing)
        self._agents = agents

    async def answer(
        self,
        question: str,
        value: Any,  # noqa: ANN401 (any JSON)
        *,
        by: str,
        comment: str = "",
        how: str = "",
    ) -> QuestionView:
        """Answer a question; the first valid answer wins, or the last that is needed."""
        key = QuestionId(question)

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            self._refuse_others(state, key, by)
            refuse_late(state, key, now)
            return self._answered(state, {key: value}, now, by=by, comment=comment, how=how)

        return await self._about(key, decide, by)

    async def withdraw(self, question: str, *, by: str, reason: str = "") -> QuestionView:
        """Take a question back: nobody need answer it any more, and the agent is told."""
        key = QuestionId(question)

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            return commands.withdraw(state, key, at=now, reason=reason, by=by)

        return await self._about(key, decide, by)

    async def take_back(self, question: str, *, by: str, reason: str = "") -> QuestionView:
        """Take back an approval of what has not begun to run; it is asked anew."""
        key = QuestionId(question)

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            return self.taken_back(state, key, now, by=by, reason=reason)

        return await self._about(key, decide, by)

    def taken_back(
        self, state: ThreadState, key: QuestionId, now: Millis, *, by: str, reason: str = ""
    ) -> list[Event]:
        """Give what takes an approval back, or raise TooLate."""
        again = fresh_question_id(self._world, state)
        return commands.take_back(state, key, at=now, new_question=again, by=by, reason=reason)

    async def _about(self, key: QuestionId, decide: Decide, by: str) -> QuestionView:
        """Decide about a question, show it as it is then, and keep who was refused in the log."""
        thread = self._nearby.states.thread_of(key)
        if thread is None:
            row = await self._store.question(key)
            if row is None:
                raise NotFound(f"there is no question {key!r}")
            thread = row.thread
        try:
            commit, _ = await self._decide(thread, decide)
        except _REFUSALS as exc:
            await self._note_refusal(thread, key, str(exc), by)
            raise
        return next(show_question(one) for one in commit.questions if one.id == key)

    async def _note_refusal(self, thread: ThreadId, key: QuestionId, why: str, by: str) -> None:
        """Keep the attempt in the log: somebody answered and was told why it doesn't count."""
        await self._decide(
            thread,
            lambda state, now: [
                *overdue(state, key, now),
                AnswerRefused(at=now, question=key, reason=why, by=by),
            ],
        )

    def _refuse_others(self, state: ThreadState, key: QuestionId, by: str) -> None:
        """Let a key that has a person's name decide what that person may, and nothing else."""
        people, current, who = self._routing.people, state.questions.get(key), Actor(id=by)
        if current is None or people.person(who) is None:
            return
        asked = audience(state, current)
        if not people.may_answer(who, asked):
            names = ", ".join(map(people.name, asked)) or "nobody"
            words = f"This question is for {names}: {by} may not answer it. Nothing has changed."
            raise MayNotDecide(words, question=key)

    def _heard(self, state: ThreadState, text: str, by: str, now: Millis) -> list[Event]:
        """Take words as the answer to the one question in words that is for their writer."""
        decider = Decider(by=by, canonical=self._routing.people.canonical)
        asked = [
            one
            for one in state.waiting_questions()
            if one.question.kind == "text" and by in audience(state, one)
            if takes_words(state, one.question, decider)
            if not overdue(state, one.question.id, now)
        ]
        if len(asked) != 1:
            return commands.receive(state, text, at=now, sender=by)
        return self._answered(state, {asked[0].question.id: text}, now, by=by)

    def _answered(
        self,
        state: ThreadState,
        answers: Mapping[QuestionId, object],
        now: Millis,
        *,
        by: str,
        comment: str = "",
        how: str = "",
    ) -> list[Event]:
        return commands.answer(
            state,
            answers,
            at=now,
            check_arguments=self.checker(state.agent),
            by=by,
            canonical=self._routing.people.canonical,
            comment=comment,
            how=how or f"api key {by}",
        )

    def parameters(self, agent: str, tool: str) -> JsonObject | None:
        """Give what a tool takes, as a JSON schema; None if it is not there (any more)."""
        known = self._agents.get(agent)
        if known is None or tool not in known.definition.tools:
            return None
        return known.definition.tools[tool].signature.parameters

    def checker(self, agent: str) -> CheckArguments:
        """Give what checks the arguments that a person has edited."""

        def check(tool: str, arguments: JsonObject) -> JsonObject:
            known = self._agents.get(agent)
            if known is None or tool not in known.definition.tools:
                raise WrongShape(f"{tool} is not there any more: it can be approved as it was only")
            try:
                known.definition.tools[tool].signature.validate(arguments)
            except BadArguments as exc:
                raise WrongShape(f"The changed arguments don't fit {tool}: {exc}") from exc
            return arguments

        return check
