"""The app's manifest: exactly the scopes and events that this channel uses. Pure.

`parley slack manifest` prints it, and Slack makes the app from it; the doctor compares the scopes
that a token has with these. Each stands with what it is for.
"""

from __future__ import annotations

from typing import Any, Final

from channels.identity import SLACK_BACK

COMMAND: Final = "/parley"
ASK_SHORTCUT: Final = "parley_ask"

BOT_SCOPES: Final = {
    "app_mentions:read": "hear mentions",
    "assistant:write": "show that the agent works",
    "channels:history": "hear replies in threads that the agent is in",
    "channels:read": "know who can't see a question there, and ask them in private",
    "chat:write": "answer, ask, and update what was asked",
    "commands": "the command /parley and the shortcut",
    "files:read": "read files that people send along",
    "groups:history": "the same in private channels",
    "groups:read": "know the same of private channels",
    "im:history": "hear direct messages",
    "im:write": "reach people by direct messages",
    "mpim:history": "hear direct messages among several",
    "users:read": "know people's names, and who is from elsewhere",
    "users:read.email": "know that a person in Slack and in mail are one",
}

USER_SCOPES: Final = {
    "openid": "know who signs in to the inbox with Slack",
    "profile": "tell them by which name",
}

BOT_EVENTS: Final = {
    "agent_session_stopped": "somebody pressed Slack's own stop",
    "app_home_opened": "show what waits for them",
    "app_mention": "begin or go on",
    "app_uninstalled": "forget the token",
    "message.channels": "replies in the agent's threads",
    "message.groups": "the same in private channels",
    "message.im": "direct messages",
    "message.mpim": "direct messages among several",
    "tokens_revoked": "forget the token",
}

Manifest = dict[str, Any]


def manifest(
    *, name: str = "Parley", public_url: str = "", socket_mode: bool = False, oauth: bool = False
) -> Manifest:
    """Write the manifest; without Socket Mode, Slack needs to know where we are."""
    events = "" if socket_mode else f"{public_url}/slack/events"
    settings: Manifest = {
        "event_subscriptions": {**_at(events, "request_url"), "bot_events": list(BOT_EVENTS)},
        "interactivity": {"is_enabled": True, **_at(events, "request_url")},
        "org_deploy_enabled": oauth,
        "socket_mode_enabled": socket_mode,
        "token_rotation_enabled": oauth,
    }
    paths = ("/slack/oauth_redirect", SLACK_BACK) if oauth else (SLACK_BACK,)
    redirect = {"redirect_urls": [public_url + path for path in paths]} if public_url else {}
    # Slack refuses these together with others, as its own "Install" button would ask for them.
    people = {"user": list(USER_SCOPES)} if oauth else {}
    return {
        "display_information": {
            "name": name,
            "description": "Agents that ask people, and wait",
            "background_color": "#1d3557",
        },
        "features": _features(name, events),
        "oauth_config": {**redirect, "scopes": {"bot": list(BOT_SCOPES), **people}},
        "settings": settings,
    }


def _features(name: str, events: str) -> Manifest:
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": name, "always_online": True},
        "shortcuts": [
            {
                "name": "Ask the agent about this",
                "type": "message",
                "callback_id": ASK_SHORTCUT,
                "description": "Hand this message to the agent",
            }
        ],
        "slash_commands": [
            {
                "command": COMMAND,
                **_at(events, "url"),
                "description": "What the agent does for you",
                "usage_hint": "status | pause | resume | move | cancel | help",
                "should_escape": True,
            }
        ],
        "assistant_view": {"assistant_description": "Ask me anything; I ask back when I must."},
    }


def _at(url: str, name: str) -> dict[str, str]:
    return {name: url} if url else {}
