"""`/parley …`, as Slack posts it. Pure."""

from __future__ import annotations

from typing import Final, get_args

from channels.inbound import Command, CommandName
from channels.slack import addresses
from channels.slack.parsing.fields import Payload, storable, text
from channels.slack.parsing.meanings import Meaning, Taken, Told
from channels.slack.parsing.mrkdwn import unescaped
from channels.slack.parsing.origin import Who, enterprise, workspace

_NAMES: Final[dict[str, CommandName]] = {name: name for name in get_args(CommandName)}


def parse_command(payload: Payload) -> Meaning:
    """Read the first word; whatever we don't know gets help."""
    who = Who(
        workspace=workspace(payload),
        user=text(payload, "user_id"),
        enterprise=enterprise(payload),
        name=text(payload, "user_name"),
    )
    channel = text(payload, "channel_id")
    name, argument = _words(text(payload, "text"))
    command = Command(
        # Slack gives each call of a command a trigger of its own, and no time.
        key=f"{addresses.person(who.workspace, who.user)}:command:{text(payload, 'trigger_id')}",
        place=addresses.whole_channel(who.workspace, channel),
        actor=who.actor(),
        name=name,
        argument=argument,
    )
    told = Told(user=who.user, channel=channel, response_url=text(payload, "response_url"))
    return Taken(inbound=command, who=who, told=told, is_command=True)


def _words(said: str) -> tuple[CommandName, str]:
    first, _, rest = unescaped(storable(said)).strip().partition(" ")
    name = _NAMES.get(first.lower())
    return (name, rest.strip()) if name else ("help", "")
