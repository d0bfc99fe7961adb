"""What becomes of a payload: it is durable before Slack hears that we have it.

Whatever raises here is not acknowledged, and Slack sends it again; a second copy has no second
effect, because the intake knows it by its key. So a retry's header says nothing to us.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import assert_never

from agent_core.errors import ParleyError
from channels.channel import GiveUp
from channels.errands import Errands
from channels.inbound import Inbound, Message
from channels.intake import Intake
from channels.slack.answers import Answers
from channels.slack.clients import Clients
from channels.slack.files import Files
from channels.slack.homes import Homes
from channels.slack.parsing.events import parse_loss
from channels.slack.parsing.fields import Payload, text
from channels.slack.parsing.meanings import (
    Asked,
    Clicked,
    Explained,
    Filled,
    HomeOpened,
    Meaning,
    NotForUs,
    Taken,
    Told,
    Uninstalled,
)
from channels.slack.parsing.origin import enterprise, workspace
from channels.slack.parsing.payloads import parse
from channels.slack.parsing.reader import Reader
from channels.slack.people import People
from channels.slack.replies import DONE, Reply, note
from channels.slack.telling import Teller, in_private

_log = logging.getLogger("parley.slack")
_NOT_NOW = "I could not take that just now. Please try again in a moment."


@dataclass(frozen=True, slots=True, kw_only=True)
class Staff:
    """Who does what at the reception."""

    intake: Intake
    clients: Clients
    people: People
    files: Files
    answers: Answers
    homes: Homes
    teller: Teller
    errands: Errands


class Reception:
    """Takes every payload, from whichever way it came; its signature has been checked."""

    def __init__(self, staff: Staff, *, secret: bytes, require_mention: bool = False) -> None:
        self._staff = staff
        self._secret = secret
        self._require_mention = require_mention

    async def receive(self, payload: Payload) -> Reply:
        """Take it, or raise what says that it could not be taken now."""
        if lost := parse_loss(payload):
            await self._staff.clients.forget(lost.team, lost.enterprise, lost.at)
            return DONE
        team = workspace(payload)
        meaning = await self._meaning(team, payload)
        if isinstance(meaning, NotForUs):
            _log.debug("slack payload ignored", extra={"reason": meaning.reason})
            return Reply(body={"options": []}) if _wants_options(payload) else DONE
        return await self._act(team, meaning)

    async def _meaning(self, team: str, payload: Payload) -> Meaning:
        if not team:
            return NotForUs(reason="no workspace is named")
        try:
            if organisation := enterprise(payload):
                await self._staff.clients.meet(team, organisation)
            bot = await self._staff.clients.bot(team)
        except GiveUp as exc:
            return NotForUs(reason=f"not installed there: {exc}")
        reader = Reader(
            bot_user=bot.user_id,
            secret=self._secret,
            require_mention=self._require_mention,
            names=self._staff.people.names(team),
        )
        return parse(payload, reader)

    async def _act(self, team: str, meaning: Meaning) -> Reply:
        match meaning:
            case Taken():
                return await self._take(team, meaning)
            case Clicked():
                return await self._click(team, meaning)
            case Filled():
                return await self._staff.answers.fill(meaning)
            case Asked():
                self._tell(team, meaning.told, await self._staff.answers.ask(meaning))
            case HomeOpened():
                self._staff.errands.run(self._staff.homes.publish(meaning.who))
            case Explained(is_modal=True):
                return note(meaning.words, team)
            case Explained():
                self._tell(team, meaning.told, meaning.words)
            case Uninstalled() | NotForUs():
                pass  # they were seen to before
            case never:
                assert_never(never)
        return DONE

    async def _take(self, team: str, taken: Taken) -> Reply:
        inbound = await self._completed(team, taken)
        try:
            received = await self._staff.intake.receive(inbound)
        except ParleyError:
            if taken.is_command:  # Slack sends no command twice
                self._tell(team, taken.told, _NOT_NOW)
            raise
        if taken.is_command:
            return Reply(body=in_private(received.words, team)) if received.words else DONE
        self._tell(team, taken.told, received.words)
        return DONE

    async def _completed(self, team: str, taken: Taken) -> Inbound:
        """Add who it is and what the files say, at the same time: Slack waits three seconds."""
        if not isinstance(taken.inbound, Message) or not taken.files:
            return replace(taken.inbound, actor=await self._staff.people.actor(taken.who))
        client = await self._staff.clients.client(team)
        actor, files = await asyncio.gather(
            self._staff.people.actor(taken.who),
            self._staff.files.attachments(client, taken.files),
        )
        return replace(taken.inbound, actor=actor, attachments=files)

    async def _click(self, team: str, click: Clicked) -> Reply:
        try:
            words = await self._staff.answers.click(click)
        except ParleyError:
            self._tell(team, click.told, _NOT_NOW)  # nor a click
            raise
        self._tell(team, click.told, words)
        if click.is_at_home:
            self._staff.errands.run(self._staff.homes.publish(click.who))
        return DONE

    def _tell(self, team: str, told: Told, words: str) -> None:
        """Explain in private, when it is durable and without keeping Slack waiting."""
        if words:
            self._staff.errands.run(self._staff.teller.tell(team, told, words))


def _wants_options(payload: Payload) -> bool:
    """A menu of somebody's that fetches its options waits for a list."""
    return text(payload, "type") == "block_suggestion"
