"""Interactivity: clicks, forms, shortcuts; and commands. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from channels.slack.double import shown
from channels.slack.double.payloads.events import VERIFICATION_TOKEN
from channels.slack.double.records import Channel, Message, Payload, User, View
from channels.slack.double.team import Team


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """Who does something, and what Slack hands to the app for it."""

    team: Team
    user: User
    trigger_id: str
    response_url: str = ""

    def frame(self, *, is_in_channel: bool = True) -> Payload:
        """Write what all interactions have in common.

        What happens outside of channels belongs to no workspace when the app is an organisation's.
        """
        team = self.team
        enterprise = (
            {"id": team.enterprise_id, "name": team.enterprise_name} if team.enterprise_id else None
        )
        return {
            "team": None if team.is_org_install and not is_in_channel else _team(team),
            "user": {
                "id": self.user.id,
                "username": self.user.name,
                "name": self.user.name,
                "team_id": self.user.team_id,
            },
            "api_app_id": team.bot.app_id,
            "token": VERIFICATION_TOKEN,
            "trigger_id": self.trigger_id,
            "enterprise": enterprise,
            "is_enterprise_install": team.is_org_install,
        }


def _team(team: Team) -> Payload:
    return {"id": team.id, "domain": team.domain} | _enterprise(team)


def _enterprise(team: Team) -> Payload:
    if not team.enterprise_id:
        return {}
    return {"enterprise_id": team.enterprise_id, "enterprise_name": team.enterprise_name}


def message_action(
    occasion: Occasion, *, message: Message, action: Payload, values: Payload
) -> Payload:
    """A click on something in a message."""
    team = occasion.team
    channel = team.channels[message.channel]
    container: Payload = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.ephemeral_to is not None,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    body = {
        "type": "block_actions",
        **occasion.frame(),
        "container": container,
        "channel": _channel(channel),
        "state": {"values": values},
        "response_url": occasion.response_url,
        "actions": [action],
    }
    if message.ephemeral_to is None:  # Slack keeps no ephemeral message that it could show
        body["message"] = shown.message(message, team)
    return body


def view_action(occasion: Occasion, *, view: View, action: Payload) -> Payload:
    """A click on something in a modal or in the home tab."""
    return {
        "type": "block_actions",
        **occasion.frame(is_in_channel=False),
        "container": {"type": "view", "view_id": view.id},
        "view": shown.view(view, occasion.team),
        "actions": [action],
    }


def view_submission(occasion: Occasion, *, view: View) -> Payload:
    """A form that someone sent off."""
    return {
        "type": "view_submission",
        **occasion.frame(is_in_channel=False),
        "view": shown.view(view, occasion.team),
        "response_urls": [],
    }


def view_closed(occasion: Occasion, *, view: View, is_cleared: bool) -> Payload:
    """A form that someone closed; it has no trigger, so nothing can be opened from it."""
    body = {
        "type": "view_closed",
        **occasion.frame(is_in_channel=False),
        "view": shown.view(view, occasion.team),
        "is_cleared": is_cleared,
    }
    del body["trigger_id"]
    return body


def message_shortcut(occasion: Occasion, *, message: Message, callback_id: str) -> Payload:
    """A shortcut from a message's menu."""
    team = occasion.team
    return {
        "type": "message_action",
        **occasion.frame(),
        "callback_id": callback_id,
        "action_ts": team.stamps.ts(),
        "response_url": occasion.response_url,
        "message_ts": message.ts,
        "channel": _channel(team.channels[message.channel]),
        "message": shown.message(message, team),
    }


def global_shortcut(occasion: Occasion, *, callback_id: str) -> Payload:
    """A shortcut from the composer or from search."""
    return {
        "type": "shortcut",
        **occasion.frame(is_in_channel=False),
        "callback_id": callback_id,
        "action_ts": occasion.team.stamps.ts(),
    }


def command(occasion: Occasion, *, channel: Channel, name: str, text: str) -> Payload:
    """A slash command, as a form."""
    team = occasion.team
    fields = {
        "token": VERIFICATION_TOKEN,
        "team_id": team.id,
        "team_domain": team.domain,
        "channel_id": channel.id,
        "channel_name": _channel(channel)["name"],
        "user_id": occasion.user.id,
        "user_name": occasion.user.name,
        "command": name,
        "text": text,
        "api_app_id": team.bot.app_id,
        "is_enterprise_install": "true" if team.is_org_install else "false",
        "response_url": occasion.response_url,
        "trigger_id": occasion.trigger_id,
    }
    return fields | _enterprise(team)


def _channel(channel: Channel) -> Payload:
    names = {"im": "directmessage", "group": "privategroup", "mpim": channel.name}
    return {"id": channel.id, "name": names.get(channel.kind, channel.name)}
