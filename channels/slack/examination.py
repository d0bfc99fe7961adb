"""Is the app in Slack set up as it should be? What is wrong, and what to click to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.clients import UNREACHABLE, error_name
from channels.slack.connections import Connections
from channels.slack.manifest import BOT_SCOPES

_SCOPES_HEADER = "x-oauth-scopes"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    is_good: bool
    told: str
    todo: str = ""


async def examine(*, bot_token: str, app_token: str, api_url: str) -> list[Finding]:
    """Look at the tokens, the scopes, and Socket Mode."""
    connections = Connections(api_url)
    try:
        found = [await _bot(connections.client(bot_token))] if bot_token else []
        if app_token:
            found.append(await _socket(connections.client(app_token), app_token))
        return found
    finally:
        await connections.close()


async def _bot(client: AsyncWebClient) -> Finding:
    try:
        said = await client.auth_test()
    except UNREACHABLE as exc:
        return _refused(exc, "SLACK_BOT_TOKEN", "OAuth & Permissions → Bot User OAuth Token")
    has = {one.strip() for one in str(said.headers.get(_SCOPES_HEADER, "")).split(",")}
    missing = sorted(BOT_SCOPES.keys() - has)
    where = f"{said['user']} in {said['team']}"
    if missing:
        return Finding(
            is_good=False,
            told=f"{where} lacks the scopes {', '.join(missing)}",
            todo="OAuth & Permissions → Scopes: add them (`parley slack manifest` has them all), "
            "then Reinstall to Workspace",
        )
    return Finding(is_good=True, told=f"{where}, with all scopes")


async def _socket(client: AsyncWebClient, token: str) -> Finding:
    try:
        await client.apps_connections_open(app_token=token)
    except UNREACHABLE as exc:
        return _refused(
            exc, "SLACK_APP_TOKEN", "Basic Information → App-Level Tokens, with connections:write"
        )
    return Finding(is_good=True, told="Socket Mode opens")


def _refused(error: Exception, variable: str, where: str) -> Finding:
    if isinstance(error, SlackApiError):
        told = f"{variable}: Slack says {error_name(error)}"
        return Finding(is_good=False, told=told, todo=f"take it from {where}")
    return Finding(
        is_good=False,
        told=f"Slack can't be reached: {type(error).__name__}",
        todo="see SLACK_API_URL and the network",
    )
