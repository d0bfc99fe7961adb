"""Forms: opened by a click or by the shortcut, while Slack's trigger lives."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import msgspec

from agent_core.json_values import JsonObject
from channels.channel import ChannelError
from channels.intake import Memory
from channels.outgoing import QuestionCard
from channels.slack import addresses
from channels.slack.clients import UNREACHABLE, Clients
from channels.slack.parsing.meanings import Asked, Clicked, Told
from channels.slack.parsing.origin import Who
from channels.slack.parsing.words import quoted
from channels.slack.people import People
from channels.slack.render.modals import ask_modal, question_modal

_log = logging.getLogger("parley.slack")
_SECONDS: Final = 2.5
"""A trigger lives three."""
_QUOTE_KEPT_SECONDS: Final = 24 * 3_600.0
_QUOTE_LETTERS: Final = 20_000

NOT_OPENED: Final = "Slack did not let me open the form in time. Please click again."


class Forms:
    """Opens them, and keeps what one of them is about."""

    def __init__(self, clients: Clients, people: People, memory: Memory, secret: bytes) -> None:
        self._clients = clients
        self._people = people
        self._memory = memory
        self._secret = secret

    def of(self, click: Clicked, card: QuestionCard) -> dict[str, Any] | None:
        """Give the form that a click asks for, or None where it asks for none."""
        context = _context(click.who.workspace, click.told)
        return question_modal(click.action.name, card, secret=self._secret, context=context)

    async def open(self, team: str, trigger: str, view: dict[str, Any]) -> bool:
        """Open a form, and say whether Slack did."""
        try:
            async with asyncio.timeout(_SECONDS):
                client = await self._clients.client(team)
                await client.views_open(trigger_id=trigger, view=view)
        except (*UNREACHABLE, ChannelError) as exc:
            _log.warning("slack form not opened", extra={"error": type(exc).__name__})
            return False
        return True

    async def ask(self, asked: Asked) -> bool:
        """Open the form of the shortcut first, then keep the message that it is about."""
        team = asked.who.workspace
        context = _context(team, asked.told)
        view = ask_modal(asked.quote, secret=self._secret, context=context)
        if not await self.open(team, asked.trigger, view):
            return False
        about = {"quote": asked.quote[:_QUOTE_LETTERS], "author": await self._author(asked)}
        key = _about(context)
        await self._memory.keep(key, msgspec.json.encode(about), seconds=_QUOTE_KEPT_SECONDS)
        return True

    async def _author(self, asked: Asked) -> str:
        if asked.author_name or not asked.author:
            return asked.author_name or "somebody"
        actor = await self._people.actor(Who(workspace=asked.who.workspace, user=asked.author))
        return actor.name or asked.author

    async def quotation(self, context: JsonObject) -> str:
        """Give the message that a filled shortcut is about, set off as a quotation."""
        kept = await self._memory.recall(_about(context))
        if kept is None:
            return ""
        about = msgspec.json.decode(kept, type=dict[str, str])
        return quoted(about["quote"], f"@{about['author']}") if about["quote"] else ""


def _context(team: str, told: Told) -> JsonObject:
    """Say where a form was opened; it comes back with the form, signed."""
    return {
        "team": team,
        "channel": told.channel,
        "root": told.root or told.message,
        "message": told.message,
    }


def _about(context: JsonObject) -> str:
    key = addresses.message_key(context["team"], context["channel"], context["message"])
    return f"ask:{key}"
