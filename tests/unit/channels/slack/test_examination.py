"""The examination of the app: what is wrong, and what to click."""

from __future__ import annotations

from channels.slack.double import SlackDouble
from channels.slack.examination import examine
from channels.slack.manifest import BOT_SCOPES


async def test_app_with_everything_is_good() -> None:
    """The token, its scopes, and Socket Mode."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        slack.workspace("T1", bot_token="xoxb-1", scopes=BOT_SCOPES)
        bot, socket = await examine(bot_token="xoxb-1", app_token="xapp-1", api_url=slack.api_url)

    assert (bot.is_good, "Acme" in bot.told) == (True, True)
    assert (socket.is_good, socket.told) == (True, "Socket Mode opens")


async def test_missing_scope_is_named_with_where_to_add_it() -> None:
    """And only that one."""
    fewer = [scope for scope in BOT_SCOPES if scope != "files:read"]
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        slack.workspace("T1", bot_token="xoxb-1", scopes=fewer)
        (bot,) = await examine(bot_token="xoxb-1", app_token="", api_url=slack.api_url)

    assert (bot.is_good, bot.told.endswith("lacks the scopes files:read")) == (False, True)
    assert "Reinstall" in bot.todo


async def test_wrong_tokens_are_told_by_their_variables() -> None:
    """With what Slack says, and never the token."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        slack.workspace("T1", bot_token="xoxb-1")
        bot, socket = await examine(
            bot_token="xoxb-wrong", app_token="xapp-wrong", api_url=slack.api_url
        )

    assert (bot.is_good, bot.told) == (False, "SLACK_BOT_TOKEN: Slack says invalid_auth")
    assert (socket.is_good, socket.told) == (False, "SLACK_APP_TOKEN: Slack says invalid_auth")


async def test_slack_that_is_away_is_said_to_be() -> None:
    """A closed port is not a wrong token."""
    async with SlackDouble(signing_secret="shhh", app_token="xapp-1") as slack:
        gone = slack.api_url
    (bot,) = await examine(bot_token="xoxb-1", app_token="", api_url=gone)

    assert (bot.is_good, bot.told.startswith("Slack can't be reached")) == (False, True)
