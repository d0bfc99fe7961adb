"""The Events API: the envelope, and the events themselves. Pure."""

from __future__ import annotations

import html
import re

from channels.slack.double import shown
from channels.slack.double.records import Channel, Message, Payload
from channels.slack.double.team import Team

VERIFICATION_TOKEN = "verification-token"  # noqa: S105 (Slack's deprecated one; it proves nothing)
_ANGLE = re.compile(r"<([^<>\n]+)>")


def envelope(team: Team, event: Payload, *, channel: Channel | None, home: str = "") -> Payload:
    """Wrap an event as Slack does.

    `team_id` at the top is where it happened: with Slack Connect that is the other organisation,
    and only `authorizations` and `context_team_id` say whose installation this is for.
    """
    stamps = team.stamps
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": home or team.id,
        "enterprise_id": team.enterprise_id,
        "context_team_id": team.id,
        "context_enterprise_id": team.enterprise_id,
        "api_app_id": team.bot.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": stamps.id("Ev"),
        "event_time": stamps.now(),
        "authorizations": [_authorization(team)],
        "is_ext_shared_channel": channel is not None and channel.is_ext_shared,
        "event_context": f"4-{stamps.secret()}",
    }


def _authorization(team: Team) -> Payload:
    return {
        "enterprise_id": team.enterprise_id,
        "team_id": None if team.is_org_install else team.id,
        "user_id": team.bot.user,
        "is_bot": True,
        "is_enterprise_install": team.is_org_install,
    }


def message(team: Team, said: Message) -> Payload:
    """Tell of a new message."""
    channel = team.channels[said.channel]
    event = {
        **shown.message(said, team),
        "channel": channel.id,
        "channel_type": channel.kind,
        "event_ts": said.ts,
    }
    if channel.is_ext_shared and said.user:
        event |= {"user_team": said.user_team, "source_team": said.user_team}
    return event


def app_mention(team: Team, said: Message) -> Payload:
    """Tell the app that it was mentioned: the same message, in another event."""
    event = message(team, said) | {"type": "app_mention"}
    return {key: event[key] for key in event if key not in {"channel_type", "subtype"}}


def message_changed(team: Team, said: Message, previous: Payload) -> Payload:
    """Tell that a message reads otherwise now: an edit, or an unfurled link."""
    now = {**shown.message(said, team), "user_team": said.user_team, "source_team": said.user_team}
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": now,
        "previous_message": previous,
        **_hidden(team, said),
    }


def message_deleted(team: Team, said: Message, previous: Payload) -> Payload:
    """Tell that a message is gone."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": previous,
        "deleted_ts": said.ts,
        **_hidden(team, said),
    }


def _hidden(team: Team, said: Message) -> Payload:
    ts = team.stamps.ts()
    channel = team.channels[said.channel]
    return {
        "channel": channel.id,
        "channel_type": channel.kind,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
    }


def member_joined(team: Team, channel: Channel, user: str, inviter: str | None) -> Payload:
    """Tell that someone came into a channel."""
    event = {
        "type": "member_joined_channel",
        "user": user,
        "channel": channel.id,
        "channel_type": channel.kind[0].upper(),
        "team": team.id,
        "event_ts": team.stamps.ts(),
    }
    return event | ({"inviter": inviter} if inviter else {})


def home_opened(team: Team, user: str, tab: str) -> Payload:
    """Tell that someone looks at the app's home, with what stands there."""
    event: Payload = {
        "type": "app_home_opened",
        "user": user,
        "channel": team.dm_with(user).id,
        "tab": tab,
        "event_ts": team.stamps.ts(),
    }
    if user in team.homes and tab == "home":
        event["view"] = shown.view(team.homes[user], team)
    return event


def session_stopped(
    team: Team, *, user: str, channel: str, thread_ts: str | None, streaming: list[str]
) -> Payload:
    """Tell that someone pressed stop below the agent's work."""
    return {
        "type": "agent_session_stopped",
        "user": user,
        "channel": channel,
        "thread_ts": thread_ts,
        "streaming_message_ts": streaming,
        "event_ts": team.stamps.ts(),
    }


def rich_text(text: str) -> list[Payload]:
    """Write what a person typed as the block that Slack makes of it, where nothing is escaped."""
    parts: list[Payload] = []
    for index, piece in enumerate(_ANGLE.split(text)):
        if index % 2:
            parts.append(_reference(piece))
        elif piece:
            parts.append({"type": "text", "text": html.unescape(piece)})
    section = {"type": "rich_text_section", "elements": parts}
    return [{"type": "rich_text", "block_id": "rt", "elements": [section]}] if parts else []


def _reference(inside: str) -> Payload:
    target, _, label = inside.partition("|")
    match target[:1]:
        case "@":
            return {"type": "user", "user_id": target[1:]}
        case "#":
            return {"type": "channel", "channel_id": target[1:]}
        case "!":
            return {"type": "broadcast", "range": target[1:]}
        case _:
            link = {"type": "link", "url": html.unescape(target)}
            return link | ({"text": html.unescape(label)} if label else {})
