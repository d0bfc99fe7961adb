"""Intake for channels: who may, which thread, has it been taken before; then one commit.

Everything that a channel parses comes through `receive`. It is durable when that returns, and a
second copy has no second effect. Refusals are words for the one who wrote; a forbidden or late
answer also stays in the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from agent_core.errors import AlreadySettled, AmbiguousAnswer, Refused, WrongShape
from agent_core.loop.world import World
from agent_core.thread import commands
from agent_core.thread.events import (
    AnswerRefused,
    Attachment,
    Event,
    MessageReceived,
    Millis,
    ThreadId,
)
from agent_core.thread.questions import Question, QuestionId
from agent_core.thread.state import QuestionState, ThreadState
from channels.inbound import Command, Decision, Edit, Inbound, Message, Stop
from channels.intake import Received
from channels.people import Actor
from gateway.consequences import audience
from gateway.deciding import Decide
from gateway.local import LocalGateway
from gateway.opening import Opening
from gateway.orders import Orders
from gateway.people import Directory
from gateway.succession import Succession
from gateway.words import Reading, read_words
from storage.errors import PlaceTaken
from storage.store import Store
from storage.values import InboxKey

_REMEMBERED_MS = 90 * 24 * 3_600_000
"""How long a message's key is kept: no channel sends a copy later, and few edits come later."""

_OUTSIDER = "Only people of this organisation can talk to the agent here."


class NotYours(Refused):
    """Somebody answered who is not asked; said to them, and noted in the log."""


class ChannelIntake:
    """The way in for every channel."""

    def __init__(
        self,
        gateway: LocalGateway,
        store: Store,
        people: Directory,
        routes: Mapping[str, str],
        *,
        world: World | None = None,
    ) -> None:
        """Take `routes`: which agent begins a thread, by the channel's name."""
        self._gateway = gateway
        self._store = store
        self._people = people
        self._routes = routes
        self._world = world or World()
        self._orders = Orders(gateway, store, people, self._world)
        self._succession = Succession(gateway, store)

    async def receive(self, inbound: Inbound) -> Received:
        """Take it, once; see `channels.intake.Intake`."""
        if inbound.actor.is_bot:
            return Received(effect="ignored", words="")
        try:
            match inbound:
                case Message():
                    return await self._message(inbound)
                case Edit():
                    return await self._edit(inbound)
                case Decision():
                    return await self._decision(inbound)
                case Command():
                    return await self._orders.carry_out(inbound)
                case Stop():
                    return await self._orders.stop(inbound)
                case never:
                    assert_never(never)
        except Refused as exc:
            shape = isinstance(exc, WrongShape)
            return Received(effect="refused", words=str(exc), is_shape=shape)

    # Words

    async def _message(self, said: Message) -> Received:
        if said.repeat == "supersede":
            return await self._supersede(said)
        thread = None if said.is_alone else await self._store.thread_at(said.place)
        if thread is None and not said.is_addressed:
            return Received(effect="ignored")
        if said.actor.is_external and self._people.person(said.actor) is None:
            words = _OUTSIDER if said.is_addressed else ""
            return Received(effect="refused" if words else "ignored", words=words)
        if thread is None:
            return await self._begin(said)
        return await (self._wait if said.repeat == "wait" else self._say)(thread, said)

    async def _supersede(self, said: Message) -> Received:
        """End the thread that is there, and begin another; see `Succession`."""
        current, following = await self._succession.current(said.place)
        # Only now: a thread that this very message has begun is never ended by its copy.
        first = await self._store.inbox(_source(said), said.key)
        if first is not None:
            return Received(effect="copy", thread=first.thread)
        if current is not None:
            await self._succession.end(current, by=said.actor.id)
        return await self._begin(replace(said, place=following), original=said)

    async def _wait(self, thread: ThreadId, said: Message) -> Received:
        first = await self._store.inbox(_source(said), said.key)
        if first is None and await self._succession.is_under_way(thread):
            return Received(effect="waiting", thread=thread)
        return await self._say(thread, said)

    async def _begin(self, said: Message, *, original: Message | None = None) -> Received:
        opening = Opening(
            agent=said.agent or self._agent_for(said.place.partition(":")[0]),
            text=said.text,
            attachments=said.attachments,
            by=said.actor.id,
            audience=said.audience,
            origin=said.place,
            places=() if said.is_alone else (said.place,),
            inbox=self._key(said),
        )
        try:
            thread, is_new = await self._gateway.begin(opening)
        except PlaceTaken:  # somebody else began it just now
            return await self._message(original or said)
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
        return await self._commit(thread, said, lambda state, now: self._heard(state, said, now))

    def _heard(self, state: ThreadState, said: Message, now: Millis) -> list[Event]:
        """Take words as an answer where exactly one question takes them, else as a message."""
        fitting = [
            (one.question, reading)
            for one in state.waiting_questions()
            if said.may_answer and _came_after(said, one) and self._may(said, state, one)
            if (reading := read_words(one.question, said.text)) is not None
        ]
        if len(fitting) > 1:
            raise AmbiguousAnswer(_which_one([question for question, _ in fitting]))
        if not fitting:
            return commands.receive(
                state, said.text, at=now, sender=said.actor.id, attachments=said.attachments
            )
        question, reading = fitting[0]
        answered = self._answer(state, question.id, reading, said.actor, now)
        return [*answered, *_files(said.attachments, said.actor, now)]

    async def _edit(self, edit: Edit) -> Received:
        first = await self._store.inbox(_source(edit), edit.original)
        if first is None:
            return Received(effect="ignored")
        text = f"Correction: I have edited my earlier message. It now reads:\n{edit.text}"
        return await self._commit(
            first.thread,
            edit,
            lambda state, now: commands.receive(state, text, at=now, sender=edit.actor.id),
        )

    # Decisions

    async def _decision(self, decided: Decision) -> Received:
        key = QuestionId(decided.question)
        row = await self._store.question(key)
        if row is None:
            return Received(effect="refused", words="This question is not here any more.")
        reading = Reading(decided.value, decided.comment)

        def decide(state: ThreadState, now: Millis) -> list[Event]:
            current = state.questions.get(key)
            if current is not None and not self._may(decided, state, current):
                raise NotYours(self._not_yours(state, current))
            return self._answer(state, key, reading, decided.actor, now)

        try:
            return await self._commit(row.thread, decided, decide)
        except (AlreadySettled, NotYours) as exc:
            await self._note(row.thread, key, str(exc), decided.actor)
            raise

    def _answer(
        self, state: ThreadState, key: QuestionId, reading: Reading, actor: Actor, now: Millis
    ) -> list[Event]:
        return commands.answer(
            state,
            {key: reading.value},
            at=now,
            check_arguments=self._gateway.checker(state.agent),
            by=actor.id,
            comment=reading.comment,
        )

    def _may(self, inbound: Inbound, state: ThreadState, current: QuestionState) -> bool:
        actor = inbound.actor
        if current.question.kind == "approval" and not actor.is_authenticated:
            return False
        return self._people.may_answer(actor, audience(state, current), inbound.place)

    def _not_yours(self, state: ThreadState, current: QuestionState) -> str:
        names = ", ".join(self._people.name(one) for one in audience(state, current)) or "nobody"
        return f"This question is for {names}: you may not answer it. Nothing has changed."

    async def _note(self, thread: ThreadId, key: QuestionId, why: str, actor: Actor) -> None:
        """Keep the attempt in the log."""
        await self._gateway.decide(
            thread,
            lambda _state, now: [AnswerRefused(at=now, question=key, reason=why, by=actor.id)],
        )

    # One commit

    async def _commit(self, thread: ThreadId, inbound: Inbound, decide: Decide) -> Received:
        done = await self._gateway.decide(thread, decide, inbox=self._key(inbound))
        return Received(effect="taken" if done else "copy", thread=thread)

    def _key(self, inbound: Inbound) -> InboxKey:
        expires = Millis(self._world.now() + _REMEMBERED_MS)
        return InboxKey(source=_source(inbound), key=inbound.key, expires_at=expires)


def _source(inbound: Inbound) -> str:
    return inbound.place.partition(":")[0]


def _came_after(said: Message, current: QuestionState) -> bool:
    """Tell whether words can be about a question: a "yes" that comes late is about another one."""
    return said.said_at is None or said.said_at >= current.asked_at


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


def _which_one(questions: list[Question]) -> str:
    lines = [f"{number}. {one.prompt}" for number, one in enumerate(questions, start=1)]
    return "\n".join(
        ["Which one do you mean? Several questions are open here:", *lines, "Use its buttons."]
    )
