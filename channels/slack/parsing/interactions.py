"""Clicks, forms and shortcuts. Pure.

What a button or a form carries was signed when it was shown; one that we did not sign is refused,
and whoever clicked it is told. What a click comes to is decided beside the question, later.
"""

from __future__ import annotations

from typing import Final

from channels.slack import addresses
from channels.slack.manifest import ASK_SHORTCUT
from channels.slack.parsing.fields import Payload, part, parts, text
from channels.slack.parsing.meanings import (
    Asked,
    Clicked,
    Explained,
    Filled,
    Meaning,
    NotForUs,
    Told,
)
from channels.slack.parsing.mrkdwn import plain_text
from channels.slack.parsing.origin import Who, clicker
from channels.slack.parsing.reader import Reader
from channels.slack.render.buttons import ACTION_PREFIX
from channels.slack.render.filled import read_opened
from channels.slack.tokens import ForgedValue, read_action

_FORGED: Final = "I did not make this button, or not as it is now. Nothing has changed."


def parse_interaction(payload: Payload, reader: Reader) -> Meaning:
    """Read whatever Slack posts about interactive parts."""
    match text(payload, "type"):
        case "block_actions":
            return _click(payload, reader)
        case "view_submission":
            return _filled(payload, reader)
        case "message_action":
            return _shortcut(payload, reader)
        case kind:
            return NotForUs(reason=f"an interaction of the kind {kind}")


def _click(payload: Payload, reader: Reader) -> Meaning:
    ours = [
        one for one in parts(payload, "actions") if text(one, "action_id").startswith(ACTION_PREFIX)
    ]
    if not ours:
        return NotForUs(reason="not a button of ours")
    who, told = clicker(payload), _told(payload)
    value = text(ours[0], "value") or text(ours[0], "selected_option", "value")
    if not value:
        return NotForUs(reason="a button without a value")
    try:
        action = read_action(reader.secret, value)
    except ForgedValue:
        return Explained(told=told, words=_FORGED)
    return Clicked(
        action=action,
        at=addresses.ts(text(ours[0], "action_ts")),
        place=_place(who, told),
        who=who,
        told=told,
        trigger=text(payload, "trigger_id"),
        is_at_home=text(payload, "view", "type") == "home",
    )


def _filled(payload: Payload, reader: Reader) -> Meaning:
    view = part(payload, "view")
    if not text(view, "callback_id").startswith(ACTION_PREFIX):
        return NotForUs(reason="not a form of ours")
    who = clicker(payload)
    try:
        opened = read_opened(reader.secret, view)
    except ForgedValue:
        return Explained(told=_told(payload), words=_FORGED, is_modal=True)
    told = Told(
        user=who.user,
        channel=text(opened.context, "channel"),
        root=text(opened.context, "root"),
        message=text(opened.context, "message"),
    )
    return Filled(opened=opened, view=view, who=who, told=told)


def _shortcut(payload: Payload, reader: Reader) -> Meaning:
    if text(payload, "callback_id") != ASK_SHORTCUT:
        return NotForUs(reason="not a shortcut of ours")
    message = part(payload, "message")
    return Asked(
        who=clicker(payload),
        told=_told(payload),
        trigger=text(payload, "trigger_id"),
        quote=plain_text(text(message, "text"), reader.names),
        author=text(message, "user"),
        author_name=text(message, "username"),
    )


def _told(payload: Payload) -> Told:
    message = part(payload, "message")
    return Told(
        user=text(payload, "user", "id"),
        channel=text(payload, "channel", "id") or text(payload, "container", "channel_id"),
        root=text(message, "thread_ts")
        or text(message, "ts")
        or text(payload, "container", "thread_ts")
        or text(payload, "container", "message_ts"),
        message=text(message, "ts") or text(payload, "container", "message_ts"),
        response_url=text(payload, "response_url"),
    )


def _place(who: Who, told: Told) -> str:
    """Name where it was clicked; the App Home is nobody else's."""
    if not told.channel:
        return addresses.person(who.workspace, who.user)
    return addresses.conversation(who.workspace, told.channel, told.root)
