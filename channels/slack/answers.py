"""Clicks and filled forms, up to the decision: beside the question as it is now.

A settled question is put to the intake all the same: it knows who was faster, tells so, and keeps
the attempt in the log.
"""

from __future__ import annotations

import hashlib
from typing import Final

from agent_core.errors import NotJson
from agent_core.json_values import Json, canonical, plain
from channels.inbound import Decision, Message
from channels.intake import Gatehouse, Received
from channels.outgoing import QuestionCard
from channels.slack import addresses
from channels.slack.forms import NOT_OPENED, Forms
from channels.slack.parsing.decisions import UNKNOWN, decided, objection
from channels.slack.parsing.fields import storable, text
from channels.slack.parsing.meanings import Asked, Clicked, Filled
from channels.slack.people import People
from channels.slack.render.filled import Mistakes, read_state, read_words
from channels.slack.replies import DONE, Reply, mend, mend_whole, note

_EMPTY: Final = "Please say what the agent should do: the message has no words of its own."
_DIGEST_LETTERS: Final = 16


class Answers:
    """Takes what people decide, by the button or by the form."""

    def __init__(self, house: Gatehouse, people: People, forms: Forms) -> None:
        self._house = house
        self._people = people
        self._forms = forms

    # A click: gives the words for whoever clicked, or none

    async def click(self, click: Clicked) -> str:
        """Decide, or open the form that the button stands for: its trigger lives three seconds."""
        card = await self._house.desk.question(click.action.question)
        if card is None:
            return UNKNOWN
        if objected := objection(card, click.action.digest):
            return objected
        view = self._forms.of(click, card)
        is_look = click.action.name == "show"
        if view is not None and (is_look or (card.status == "open" and await self._may(click))):
            is_open = await self._forms.open(click.who.workspace, click.trigger, view)
            return "" if is_open else NOT_OPENED
        received = await self._decide(click, decided(click.action.name, card))
        return received.words

    async def _may(self, click: Clicked) -> bool:
        """Tell whether to open a form: who may not is better told before they fill it in."""
        actor = await self._people.actor(click.who)
        return await self._house.desk.may_answer(click.action.question, actor, click.place)

    async def _decide(self, click: Clicked, value: Json) -> Received:
        who = addresses.person(click.who.workspace, click.who.user)
        decision = Decision(
            key=f"{who}:{click.at}:{click.action.question}",
            place=click.place,
            actor=await self._people.actor(click.who),
            question=click.action.question,
            value=value,
        )
        return await self._house.intake.receive(decision)

    # A form: gives what Slack shows in its place

    async def fill(self, filled: Filled) -> Reply:
        """Take what was filled in, or show what to mend."""
        if filled.opened.action == "ask":
            return await self._ask(filled)
        card = await self._house.desk.question(filled.opened.question)
        if card is None:
            return note(UNKNOWN, filled.who.workspace)
        if objected := objection(card, filled.opened.digest):
            return note(objected, filled.who.workspace)
        return await self._answer(filled, card)

    async def _answer(self, filled: Filled, card: QuestionCard) -> Reply:
        read = read_state(filled.view, card, filled.opened.action)
        if isinstance(read, Mistakes):
            return mend(read)
        try:
            value = plain(read.value)
        except NotJson as exc:
            words = f"I can't keep this: {exc.problem}."
            return mend_whole(filled.view, words, filled.who.workspace)
        decision = Decision(
            key=_form_key(filled, value),
            place=_form_place(filled),
            actor=await self._people.actor(filled.who),
            question=card.id,
            value=value,
            comment=storable(read.comment),
        )
        return _shown(await self._house.intake.receive(decision), filled)

    # The shortcut

    async def ask(self, asked: Asked) -> str:
        """Open the form first: what is asked comes with it."""
        return "" if await self._forms.ask(asked) else NOT_OPENED

    async def _ask(self, filled: Filled) -> Reply:
        words = storable(read_words(filled.view))
        quotation = await self._forms.quotation(filled.opened.context)
        said = "\n\n".join(one for one in (words, quotation) if one)
        if not said:
            return mend_whole(filled.view, _EMPTY, filled.who.workspace)
        message = Message(
            key=_form_key(filled, said),
            place=_form_place(filled),
            actor=await self._people.actor(filled.who),
            text=said,
            is_addressed=True,
        )
        return _shown(await self._house.intake.receive(message), filled)


def _form_key(filled: Filled, value: Json) -> str:
    """A form that was mended and sent again is not a copy: what it holds belongs to its key."""
    who = addresses.person(filled.who.workspace, filled.who.user)
    about = filled.opened.question or "ask"
    digest = hashlib.sha256(canonical(value)).hexdigest()[:_DIGEST_LETTERS]
    return f"{who}:{text(filled.view, 'id')}:{about}:{digest}"


def _form_place(filled: Filled) -> str:
    opened_in = filled.opened.context
    team, channel = opened_in["team"], opened_in["channel"]
    if not channel:
        return addresses.person(team, filled.who.user)
    return addresses.conversation(team, channel, opened_in["root"])


def _shown(received: Received, filled: Filled) -> Reply:
    if received.effect != "refused":
        return DONE
    words = received.words or UNKNOWN
    team = filled.who.workspace
    return mend_whole(filled.view, words, team) if received.is_shape else note(words, team)
