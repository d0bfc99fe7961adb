"""The manifest: exactly what we use, in the form that Slack takes."""

from __future__ import annotations

from channels.slack.manifest import BOT_EVENTS, BOT_SCOPES, manifest

URL = "https://parley.example.com"


def test_over_http_slack_is_told_where_we_are() -> None:
    """Events, clicks and the command come to one address."""
    made = manifest(public_url=URL)
    (command,) = made["features"]["slash_commands"]

    assert made["settings"]["event_subscriptions"]["request_url"] == f"{URL}/slack/events"
    assert made["settings"]["interactivity"]["request_url"] == f"{URL}/slack/events"
    assert (command["command"], command["url"]) == ("/parley", f"{URL}/slack/events")
    assert made["settings"]["socket_mode_enabled"] is False


def test_socket_mode_needs_no_address() -> None:
    """None is written, so that Slack does not ask for a good one."""
    made = manifest(socket_mode=True)

    assert "request_url" not in made["settings"]["event_subscriptions"]
    assert "url" not in made["features"]["slash_commands"][0]
    assert made["settings"]["socket_mode_enabled"] is True


def test_many_workspaces_get_a_way_back_and_fresh_tokens() -> None:
    """OAuth sends people to our redirect page, and those who sign in to theirs."""
    made = manifest(public_url=URL, oauth=True)

    assert made["oauth_config"]["redirect_urls"] == [
        f"{URL}/slack/oauth_redirect",
        f"{URL}/signin/slack/back",
    ]
    assert made["oauth_config"]["scopes"]["user"] == ["openid", "profile"]
    assert made["settings"]["token_rotation_enabled"] is True
    assert made["settings"]["org_deploy_enabled"] is True


def test_scopes_and_events_are_those_that_we_use() -> None:
    """Each with what it is for, and none twice."""
    made = manifest(public_url=URL)

    assert made["oauth_config"]["scopes"]["bot"] == sorted(BOT_SCOPES)
    assert made["settings"]["event_subscriptions"]["bot_events"] == sorted(BOT_EVENTS)
