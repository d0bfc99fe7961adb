"""Conversing: words that people say. Where no thread is they begin one; else they go into it.

Words answer a question if they are meant for it; else they are kept, and whoever said them is told
what would have been an answer, or why theirs can't be one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent_core.errors import MayNotDecide, Refused, TooLate
from agent_core.thread import commands
from agent_core.thread.answers import settled_words
from agent_core.thread.events import (
    AnswerRefused,
    Attachment,
    Event,
    MessageReceived,
    Millis,
    ThreadId,
)
from agent_core.thread.questions import QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from agent_core.thread.timers import TimerEvent
from channels.inbound import Edit, Message
from channels.intake import Received
from channels.people import Actor
from gateway.control.local import LocalGateway
from gateway.intake.entitlement import Entitlement
from gateway.intake.regretting import regretted
from gateway.intake.replying import Reply, is_plain_answer, read_reply
from gateway.intake.rulings import Rulings
from gateway.intake.succession import Succession
from gateway.intake.taking import Taking, source
from gateway.intake.withdrawing import never_minded
from gateway.intake.words import expected
from gateway.people.directory import Directory
from gateway.people.moving import read_move, vouched_address
from gateway.work.lateness import expired_words, overdue
from gateway.work.opening import Opening
from storage.errors import PlaceTaken
from storage.store import Store

_OUTSIDER = "Only people of this organisation can talk to the agent here."


class Conversing:
    """Takes what people say."""

    def __init__(
        self,
        gateway: LocalGateway,
        store: Store,
        people: Directory,
        routes: Mapping[str, str],
        *,
        taking: Taking,
        rulings: Rulings,
    ) -> None:
        """Take `routes`: which agent begins a thread, by the channel's name."""
        self._gateway = gateway
        self._store = store
        self._people = people
        self._routes = routes
        self._taking = taking
        self._rulings = rulings
        self._entitlement = Entitlement(people)
        self._succession = Succession(gateway, store)

    async def hear(self, said: Message) -> Received:
        """Take words, as a beginning, as an answer, or as a message."""
        if said.repeat == "supersede":
            return await self._supersede(said)
        thread = None if said.is_alone else await self._thread_of(said)
        if thread is None and not said.is_addressed:
            return Received(effect="ignored")
        if said.actor.is_external and self._people.person(said.actor) is None:
            words = _OUTSIDER if said.is_addressed else ""
            return Received(effect="refused" if words else "ignored", words=words)
        if thread is None:
            return await self._begin(said)
        return await (self._wait if said.repeat == "wait" else self._say)(thread, said)

    async def _thread_of(self, said: Message) -> ThreadId | None:
        if said.thread and await self._store.thread(ThreadId(said.thread)) is not None:
            return ThreadId(said.thread)
        return await self._store.thread_at(said.place)

    async def _supersede(self, said: Message) -> Received:
        """End the thread that is there, and begin another; see `Succession`."""
        current, following = await self._succession.current(said.place)
        # Only now: a thread that this very message has begun is never ended by its copy.
        first = await self._store.inbox(source(said), said.key)
        if first is not None:
            return Received(effect="copy", thread=first.thread)
        if current is not None:
            await self._succession.end(current, by=said.actor.id)
        return await self._begin(replace(said, place=following), original=said)

    async def _wait(self, thread: ThreadId, said: Message) -> Received:
        first = await self._store.inbox(source(said), said.key)
        if first is None and await self._succession.is_under_way(thread):
            return Received(effect="waiting", thread=thread)
        return await self._say(thread, said)

    async def _begin(self, said: Message, *, original: Message | None = None) -> Received:
        opening = Opening(
            agent=said.agent or self._agent_for(said.place.partition(":")[0]),
            text=said.text,
            attachments=said.attachments,
            others=said.others,
            by=said.actor.id,
            person=self._people.whois(said.actor),
            audience=said.audience,
            watchers=said.watchers,
            origin=said.place,
            places=() if said.is_alone else (said.place,),
            inbox=self._taking.key(said),
        )
        try:
            thread, is_new = await self._gateway.begin(opening)
        except PlaceTaken:  # somebody else began it just now
            return await self.hear(original or said)
        return Received(effect="taken" if is_new else "copy", thread=thread, is_new=is_new)

    def _agent_for(self, channel: str) -> str:
        agent = self._routes.get(channel, "")
        if not agent:
            raise Refused(
                "No agent answers here yet: the operator must name one under [routes] "
                f"in parley.toml, as {channel} = the agent's name."
            )
        return agent

    async def _say(self, thread: ThreadId, said: Message) -> Received:
        told, goes_on_by = "", ""

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            nonlocal told, goes_on_by
            self._entitlement.refuse_strangers(said, state)
            goes_on_by, moved = self._moved_by(state, said, now)
            if moved:
                return moved
            withdrawn = never_minded(state, said, self._people, now)
            if withdrawn:
                return withdrawn
            told, regret = self._regret_in(state, said, now)
            if regret:
                return regret
            reply = self._reply_in(state, said)
            late = overdue(state, reply.question.id, now) if reply else ()
            if reply is not None and not late:
                return self._answered(state, reply, said, now)
            told, noted = self._no_answer(state, said, now, late)
            return [*noted, *self._heard(state, said, now)]

        try:
            received = await self._taking.take(thread, said, decide)
        except MayNotDecide as exc:
            await self._taking.note(thread, QuestionId(exc.question), str(exc), said.actor)
            raise
        if received.effect != "taken":
            return received
        if goes_on_by:
            return replace(received, words=f"This conversation goes on by {goes_on_by}.")
        return replace(received, words=told, is_unclear=True) if told else received

    def _moved_by(self, state: ThreadState, said: Message, now: Millis) -> tuple[str, list[Event]]:
        """Move the conversation if who began it says so; what else they said goes with it."""
        wish = read_move(said.words or said.text) if said.may_answer else None
        if wish is None or not said.actor.is_authenticated:
            return "", []
        if not self._people.may_control(said.actor, state.requester):
            return "", []
        channel, rest = wish
        by = said.actor.id
        vouched = vouched_address(said.actor, state.requester)
        moved = self._gateway.moved(state, channel, by=by, now=now, vouched=vouched)
        if not moved:  # it is there
            return "", []
        also = self._heard(state, replace(said, text=rest), now) if rest else []
        return channel, [*moved, *also]

    def _regret_in(self, state: ThreadState, said: Message, now: Millis) -> tuple[str, list[Event]]:
        """Take somebody's approval back if they say so; too late, the agent hears of it."""
        key = regretted(state, said, self._people)
        if key is None:
            return "", []
        reason = f'they said "{(said.words or said.text).strip()}"'
        try:
            return "", self._gateway.taken_back(state, key, now, by=said.actor.id, reason=reason)
        except TooLate as exc:
            why = str(exc)
            told = f"{why[:1].upper()}{why[1:]}. It was passed on as a message."
            return told, self._heard(state, said, now)

    def _reply_in(self, state: ThreadState, said: Message) -> Reply | None:
        """Read words as an answer where it is clear to which question."""
        theirs = {
            number: current.question
            for number, current in enumerate(state.questions.values(), start=1)
            if current.question.id in state.open_questions and said.may_answer
            if _came_after(said, current) and self._entitlement.may(said, state, current)
            if self._rulings.takes_words(said.actor, state, current.question)
        }
        return read_reply(said, theirs)

    def _answered(
        self, state: ThreadState, reply: Reply, said: Message, now: Millis
    ) -> list[Event]:
        answered = self._rulings.answer(state, reply.question.id, reply.reading, said.actor, now)
        return [*answered, *_files(said.attachments, said.actor, now)]

    def _no_answer(
        self, state: ThreadState, said: Message, now: Millis, late: Sequence[TimerEvent]
    ) -> tuple[str, list[Event]]:
        """Tell why words that look like an answer are none; what was tried stays in the log.

        `late` is what ends the question that they would have answered.
        """
        if late:
            over = state.questions[late[0].question]
            why = f"The question {expired_words(state, over.question.id)}"
            noted: list[Event] = [*late, _refused(over, why, said.actor, now)]
            return f"{why}, so this decided nothing. It was passed on as a message.", noted
        for current in state.waiting_questions():
            if not _came_after(said, current) or not is_plain_answer(said, current.question):
                continue
            if self._entitlement.may(said, state, current):
                unsure = "This is no answer that I could be sure of, so the question stays open."
                return f"{unsure} {expected(current.question)}", []
            why = self._entitlement.why_not(said, state, current)
            return why, [_refused(current, why, said.actor, now)]
        settled = state.questions.get(QuestionId(said.question))
        if settled is not None and settled.status != "open" and said.may_answer:
            # Whose channel knows the question tells them who was first.
            return "", [_refused(settled, f"it was {settled_words(settled)}", said.actor, now)]
        return "", []

    def _heard(self, state: ThreadState, said: Message, now: Millis) -> list[Event]:
        return commands.receive(
            state,
            said.text,
            at=now,
            sender=said.actor.id,
            others=said.others,
            attachments=said.attachments,
        )

    async def correct(self, edit: Edit) -> Received:
        """Pass on what a message says now, if it was taken."""
        first = await self._store.inbox(source(edit), edit.original)
        if first is None:
            return Received(effect="ignored")
        text = f"Correction: I have edited my earlier message. It now reads:\n{edit.text}"
        return await self._taking.take(
            first.thread,
            edit,
            lambda state, now: commands.receive(state, text, at=now, sender=edit.actor.id),
        )


def _came_after(said: Message, current: QuestionState) -> bool:
    """Tell whether words can be about a question: a "yes" that comes late is about another one."""
    return said.said_at is None or said.said_at >= current.asked_at


def _refused(current: QuestionState, why: str, actor: Actor, now: Millis) -> AnswerRefused:
    return AnswerRefused(at=now, question=current.question.id, reason=why, by=actor.id)


def _files(attachments: tuple[Attachment, ...], actor: Actor, now: Millis) -> list[Event]:
    """Keep files that came with an answer: the answer itself is only its words."""
    if not attachments:
        return []
    return [
        MessageReceived(
            at=now,
            text="(files that came with my answer)",
            sender=actor.id,
            attachments=attachments,
        )
    ]
